import fc from 'fast-check';
import { expect, it } from 'vitest';
import { unmask } from '../../src/node/unmask.js';

const MIN_WORDWISE_BYTES = 256;
const KEY = Uint8Array.of(0x01, 0x80, 0xff, 0x7e);

const maskBytewise = (payload: Uint8Array, key: Uint8Array) =>
  payload.map((byte, index) => byte ^ (key[index % 4] as number));

it.each([0, 1, MIN_WORDWISE_BYTES - 1, MIN_WORDWISE_BYTES, MIN_WORDWISE_BYTES + 1, 100_003])(
  'undoes the mask of %i bytes wherever they are in memory, and touches no other',
  (length) => {
    const plain = Uint8Array.from({ length }, (_, index) => index * 7);
    for (const offset of [0, 1, 2, 3]) {
      const memory = new Uint8Array(offset + length + 1).fill(0xaa);
      memory.set(maskBytewise(plain, KEY), offset);
      unmask(memory.subarray(offset, offset + length), KEY);
      expect(Buffer.compare(memory.subarray(offset, offset + length), plain)).toBe(0);
      expect(memory.subarray(0, offset).every((byte) => byte === 0xaa)).toBe(true);
      expect(memory.at(-1)).toBe(0xaa);
    }
  },
);

it('agrees with the definition for every key', () => {
  const key = fc.oneof(fc.uint8Array({ minLength: 4, maxLength: 4 }), fc.constant(new Uint8Array(4)));
  fc.assert(
    fc.property(key, fc.uint8Array({ maxLength: 600 }), (mask, plain) => {
      const payload = maskBytewise(plain, mask);
      unmask(payload, mask);
      expect(payload).toEqual(plain);
    }),
  );
});
