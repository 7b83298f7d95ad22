import { createMemoryTransportPair } from '@exec-server/rpc';
import { expect, test } from 'vitest';
import { createTransportDialer } from '../../src/dial/transport-dialer.js';

const never = new AbortController().signal;

test('hands the transport out once', async () => {
  const [near] = createMemoryTransportPair('mine');
  const dialer = createTransportDialer(near);
  expect(await dialer.dial(never)).toBe(near);
  await expect(dialer.dial(never)).rejects.toMatchObject({
    code: 'connect_failed',
    message: 'mine was used already',
    retryable: false,
  });
});

test('one that nobody took is ended with the dialer', async () => {
  const [near, far] = createMemoryTransportPair();
  const ended = new Promise((resolve) => {
    far.open({ onMessage() {}, onMalformed() {}, onDrain() {}, onClose: resolve });
  });
  const dialer = createTransportDialer(near);
  await dialer.close();
  await dialer.close();
  expect(await ended).toBe('the client was closed');
  await expect(dialer.dial(never)).rejects.toMatchObject({ code: 'connect_failed' });
});
