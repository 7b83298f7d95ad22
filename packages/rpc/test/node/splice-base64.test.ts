import { describe, expect, test } from 'vitest';
import { spliceBase64 } from '../../src/node/index.js';

describe('spliceBase64', () => {
  test('writes text around the bytes that a view shows', () => {
    const memory = Uint8Array.from([1, 2, 3, 4, 5]).buffer;
    const line = spliceBase64(Buffer.from('é"'), '7,"', new Uint8Array(memory, 1, 3), Buffer.from('"\n'));
    expect(line.toString()).toBe('é"7,"AgME"\n');
  });
});
