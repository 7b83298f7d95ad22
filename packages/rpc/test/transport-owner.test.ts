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

test.each([
  [LONG_MESSAGE_BYTES - 1, false],
  [LONG_MESSAGE_BYTES, true],
  [LONG_MESSAGE_BYTES + 1, true],
])('a message of %i bytes is offered as it is: %s', (bytes, isOffered) => {
  const { owner } = openOwner(() => {});
  expect(owner.messageBytes(new Uint8Array(bytes))).toBe(isOffered);
});

test('an owner that takes no bytes gets its text', () => {
  expect(openOwner().owner.messageBytes(new Uint8Array(LONG_MESSAGE_BYTES))).toBe(false);
});

test('a closing transport offers nothing and delivers no text', () => {
  const onLongMessage = vi.fn();
  const { owner, onMessage } = openOwner(onLongMessage);
  owner.beginClose();
  expect(owner.messageBytes(new Uint8Array(LONG_MESSAGE_BYTES))).toBe(true);
  expect(onLongMessage).not.toHaveBeenCalled();
  expect(onMessage).not.toHaveBeenCalled();
});
