import { expect, test } from 'vitest';
import { createMemoryTransportPair, Peer, type PeerOptions } from '../src/index.js';

function openPeers(far: Partial<PeerOptions>) {
  const base: PeerOptions = { parseErrors: 'close', onRequest() {}, onNotification() {} };
  const [a, b] = createMemoryTransportPair('near', 'far');
  return {
    near: new Peer(a, { ...base, highWaterBytes: 100, lowWaterBytes: 10 }),
    far: new Peer(b, { ...base, ...far }),
  };
}

test('objects arrive as they are, in order with notifications', async () => {
  const arrived: unknown[] = [];
  const { near, far } = openPeers({
    onObject: (object) => arrived.push(object),
    onNotification: ({ method }) => arrived.push(method),
  });
  const object = { data: new Uint8Array(3) };
  near.notify('before', {});
  near.sendObject(object, 3);
  near.notify('after', {});
  near.close();
  await far.closed;
  expect(arrived).toEqual(['before', object, 'after']);
  expect(arrived[1]).toBe(object);
});

test.each([
  [99, true],
  [100, false],
  [101, false],
])('an object that counts as %i of 100 bytes leaves it writable: %s', async (bytes, writable) => {
  const { near } = openPeers({ onObject() {} });
  near.sendObject({}, bytes);
  expect([near.bufferedBytes, near.writable]).toEqual([bytes, writable]);
  await near.whenWritable();
  near.close();
});

test('a peer that takes none is sent none', () => {
  const { near, far } = openPeers({});
  expect(near.carriesObjects).toBe(false);
  expect(() => near.sendObject({}, 1)).toThrow('near carries no objects');
  far.close();
});

test('what a handler throws is told, and the connection goes on', async () => {
  const errors: unknown[] = [];
  const failure = new Error('handler');
  const { near, far } = openPeers({
    onObject() {
      throw failure;
    },
    onHandlerError: (error) => errors.push(error),
  });
  near.sendObject({}, 1);
  near.close();
  expect(await far.closed).toBeUndefined();
  expect(errors).toEqual([failure]);
});
