import { expect, test, vi } from 'vitest';
import { LONG_MESSAGE_BYTES } from '../src/transport.js';
import { TransportOwner } from '../src/transport-owner.js';

function openOwner(onLongMessage?: (bytes: Uint8Array) => void) {
  const owner = new TransportOwner();
  const onMessage = vi.fn();
  owner.open({
    onMessage,
    onMalformed() {},
    onDrain() {},
    onClose() {},
    ...(onLongMessage && { onLongMessage }),
  });
  return { owner, onMessage };
}

const KEEP = () => ({ bytes: new Uint8Array(), release() {} });

test.each([
  [LONG_MESSAGE_BYTES - 1, false],
  [LONG_MESSAGE_BYTES, true],
  [LONG_MESSAGE_BYTES + 1, true],
])('a message of %i bytes is told as it is: %s', (bytes, isTold) => {
  const onLongMessage = vi.fn();
  const { owner } = openOwner(onLongMessage);
  expect(owner.messageBytes(new Uint8Array(bytes), KEEP)).toBe(isTold);
  expect(onLongMessage).toHaveBeenCalledTimes(isTold ? 1 : 0);
});

test('an owner that takes no bytes gets the text', () => {
  expect(openOwner().owner.messageBytes(new Uint8Array(LONG_MESSAGE_BYTES), KEEP)).toBe(false);
});

test('a closing transport tells nothing and delivers no text', () => {
  const onLongMessage = vi.fn();
  const { owner, onMessage } = openOwner(onLongMessage);
  owner.beginClose();
  expect(owner.messageBytes(new Uint8Array(LONG_MESSAGE_BYTES), KEEP)).toBe(true);
  expect(onLongMessage).not.toHaveBeenCalled();
  expect(onMessage).not.toHaveBeenCalled();
});
