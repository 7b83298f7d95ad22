import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { OutboundTotal } from '../../src/connection/outbound-total.js';
import { silentLogger } from '../../src/telemetry/logger.js';
import { openServer, openSession, readToEnd, shellParams, untilClosed } from '../support/session.js';

const LIMIT_BYTES = 1000;

function createTotal(...queues: number[]) {
  const dropped: number[] = [];
  const connections = queues.map((outboundBytes, index) => ({
    outboundBytes,
    drop: () => void dropped.push(index),
  }));
  const total = new OutboundTotal(connections, LIMIT_BYTES, silentLogger);
  for (const bytes of queues) total.add(bytes);
  return { total, dropped };
}

it.each([
  [[LIMIT_BYTES - 1], []],
  [[LIMIT_BYTES], []],
  [[LIMIT_BYTES + 1], [0]],
  [[400, 500, 100], []],
  [[400, 500, 101], [1]],
  [
    [600, 700, 800],
    [2, 1],
  ],
])('of queues of %o bytes %o go', async (queues, gone) => {
  const { dropped } = createTotal(...queues);
  await nextTurn();
  expect(dropped).toEqual(gone);
});

it('does nothing when the queues have drained by then', async () => {
  const { total, dropped } = createTotal(LIMIT_BYTES + 1);
  total.add(-1);
  await nextTurn();
  expect(dropped).toEqual([]);
});

it('a client that does not read is dropped for what all queue, misses nothing when it is back, and nobody else notices', async () => {
  const server = openServer({ outboundTotalBytes: 200_000, retainedOutputBytes: 4 * 1024 * 1024 });
  const [reader, sleeper] = [await openSession(server), await openSession(server)];
  await reader.request('process/start', shellParams('r', 'read x; seq 1 1000', { pipeStdin: true }));
  await sleeper.request('process/start', shellParams('s', 'seq 1 100000'));
  sleeper.pause();
  await sleeper.closed;
  await reader.request('process/write', { processId: 'r', chunk: btoa('\n'), writeId: '1' });
  expect((await untilClosed(reader, 'r')).exitCode).toBe(0);

  const back = await openSession(server, sleeper.sessionId);
  const { chunks, end } = await readToEnd(back, 's');
  expect(end).toMatchObject({ exitCode: 0 });
  const lines = Buffer.concat(chunks).toString().split('\n');
  expect([lines.length, lines.at(0), lines.at(-2)]).toEqual([100_001, '1', '100000']);
});
