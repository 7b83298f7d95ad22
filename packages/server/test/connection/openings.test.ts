import { createMemoryTransportPair } from '@exec-server/rpc';
import { InProcessWire } from '@exec-server/testing';
import { describe, expect, it } from 'vitest';
import { Openings } from '../../src/connection/openings.js';
import { openServer, startParams, untilClosed } from '../support/session.js';

describe('openings', () => {
  it('are waited for by name, all that arrived before', async () => {
    const openings = new Openings();
    const [first, second] = [openings.add('p'), openings.add('p')];
    let over = false;
    const waiting = openings.before('p')?.then(() => {
      over = true;
    });
    expect(openings.before('q')).toBeUndefined();
    first();
    await Promise.resolve();
    expect(over).toBe(false);
    second();
    await waiting;
    await new Promise((resolve) => setImmediate(resolve));
    expect(openings.before('p')).toBeUndefined();
  });
});

it.each([
  ['named', { processId: 'p' }],
  ['positional', ['p']],
])('a terminate does not overtake the queued start that it is about, params %s', async (_name, params) => {
  const server = openServer({ outboundHighWaterBytes: 2_000, outboundLowWaterBytes: 1_000 });
  const [client, serverSide] = createMemoryTransportPair();
  server.accept(serverSide);
  const wire = new InProcessWire(client);
  await wire.request('initialize', { clientName: 'test' });
  wire.send({ method: 'initialized' });
  wire.pause();
  wire.send({ id: 'flood', method: 'process/start', params: startParams('flood', ['/usr/bin/yes']) });
  // Once the queue to the client is full no ordinary request starts.
  while (serverSide.bufferedBytes < 2_000) await new Promise((resolve) => setImmediate(resolve));
  wire.send({ id: 'start', method: 'process/start', params: startParams('p', ['/bin/sleep', '60']) });
  wire.send({ id: 'kill', method: 'process/terminate', params });
  wire.send({ id: 'end', method: 'process/terminate', params: { processId: 'flood' } });
  wire.resume();
  expect((await wire.next(({ id }) => id === 'kill', 'the answer')).result).toMatchObject({ running: true });
  expect((await untilClosed(wire, 'p')).exitCode).toBe(137);
});
