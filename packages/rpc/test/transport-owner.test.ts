import { expect, test, vi } from 'vitest';
import { LONG_MESSAGE_BYTES } from '../src/transport.js';
import { TransportOwner } from '../src/transport-owner.js';

function openOwner(onLongMessage?: (bytes: Uint8Array) => boolean) {
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
  const { owner } = openOwner(() => true);
  expect(owner.messageBytes(new Uint8Array(bytes))).toBe(isOffered);
});

test('an owner that does not take it, or never does, gets its text', () => {
  const long = new Uint8Array(LONG_MESSAGE_BYTES);
  expect(openOwner(() => false).owner.messageBytes(long)).toBe(false);
  expect(openOwner().owner.messageBytes(long)).toBe(false);
});

test('a closing transport offers nothing and delivers no text', () => {
  const onLongMessage = vi.fn(() => true);
  const { owner, onMessage } = openOwner(onLongMessage);
  owner.beginClose();
  expect(owner.messageBytes(new Uint8Array(LONG_MESSAGE_BYTES))).toBe(true);
  expect(onLongMessage).not.toHaveBeenCalled();
  expect(onMessage).not.toHaveBeenCalled();
});
