import { expect, test } from 'vitest';
import { frameBinaryMessage } from '../../src/node/websocket-frame.js';

test.each([
  [2, '8202'],
  [125, '827d'],
  [126, '827e007e'],
  [0xffff, '827effff'],
  [0x1_0000, '827f0000000000010000'],
  [0x1_0000_0000, '827f0000000100000000'],
])('a payload of %i bytes has the header %s, and its start follows', (payloadBytes, header) => {
  const start = Uint8Array.of(0xab, 0xcd);
  expect(frameBinaryMessage(start, payloadBytes).toString('hex')).toBe(`${header}abcd`);
});
