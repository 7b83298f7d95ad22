import { MAX_HANDSHAKE_MESSAGE_BYTES } from '@exec-server/protocol';
import { openInProcessWire } from '@exec-server/testing';
import { describe, expect, it } from 'vitest';
import { RAW_LINKS } from '../support/raw-links.js';
import { openServer } from '../support/session.js';

/** What begins a conversation in each dialect. The oldest generation begins as exec does. */
const HANDSHAKES = {
  exec: { clientName: 'test' },
  app: { clientInfo: { name: 'test', version: '1' } },
};

const EDGES: [bytes: number, isTaken: boolean][] = [
  [MAX_HANDSHAKE_MESSAGE_BYTES - 1, true],
  [MAX_HANDSHAKE_MESSAGE_BYTES, true],
  [MAX_HANDSHAKE_MESSAGE_BYTES + 1, false],
];
const COMPLAINT = `exceeds the limit of ${MAX_HANDSHAKE_MESSAGE_BYTES} bytes before initialize`;

/** A request of exactly so many bytes. */
function pad(request: object, bytes: number): string {
  const bare = JSON.stringify({ padding: '', ...request });
  return JSON.stringify({ padding: 'x'.repeat(bytes - bare.length), ...request });
}

const initialize = (params: object, bytes: number) => pad({ id: 1, method: 'initialize', params }, bytes);
/** Of no use in any dialect, but answered in all of them. */
const ask = (bytes: number) => pad({ id: 2, method: 'none' }, bytes);

describe.each(Object.entries(HANDSHAKES))('in %s', (_dialect, params) => {
  describe.each(Object.entries(RAW_LINKS))('over %s', (name, open) => {
    it.each(EDGES)('a message of %i bytes before initialize is taken: %s', async (bytes, isTaken) => {
      const link = await open(openServer());
      link.send(initialize(params, bytes));
      if (isTaken) await link.hears('"id":1,"result"');
      else {
        const received = await link.closed;
        expect(received).not.toContain('"result"');
        // Lines have no way to say why.
        if (name.includes('WebSocket')) expect(received).toContain(COMPLAINT);
      }
    });

    it('a longer one is taken after it, also right behind it', async () => {
      const link = await open(openServer());
      const first = link.encode(initialize(params, 1000));
      link.write(Buffer.concat([first, link.encode(ask(MAX_HANDSHAKE_MESSAGE_BYTES + 1))]));
      await link.hears('"id":2');
    });
  });

  it.each(EDGES)(
    'a message of %i bytes before initialize is taken in one process: %s',
    async (bytes, isTaken) => {
      const wire = openInProcessWire(openServer());
      wire.sendRaw(initialize(params, bytes));
      if (isTaken) {
        await wire.next(({ id }) => id === 1, 'the answer to initialize');
        wire.sendRaw(ask(MAX_HANDSHAKE_MESSAGE_BYTES + 1));
        await wire.next(({ id }) => id === 2, 'the answer to a long message');
      } else expect(await wire.closed).toContain(COMPLAINT);
    },
  );
});

it('an initialize that is refused changes nothing', async () => {
  const link = await RAW_LINKS['a WebSocket']!(openServer());
  link.send('{"id":1,"method":"initialize","params":{}}');
  await link.hears('"error"');
  link.send(ask(MAX_HANDSHAKE_MESSAGE_BYTES + 1));
  expect(await link.closed).toContain(COMPLAINT);
});
