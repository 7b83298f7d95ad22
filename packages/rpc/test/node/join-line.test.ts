import { expect, test } from 'vitest';
import { joinLine } from '../../src/node/index.js';

test('text, bytes and base64 become one line', () => {
  const memory = Uint8Array.from([1, 2, 3, 4, 5]).buffer;
  const line = joinLine([
    'é"',
    { base64: new Uint8Array(memory, 1, 3) },
    Buffer.from('€'),
    { base64: Buffer.alloc(0) },
    '\n',
  ]);
  expect(line.toString()).toBe('é"AgME€\n');
});
