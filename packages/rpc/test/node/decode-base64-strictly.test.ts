import { checkBase64 } from '@exec-server/protocol';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { decodeBase64Strictly } from '../../src/node/decode-base64-strictly.js';

const SLICE_SYMBOLS = 64 * 1024;
const decode = (text: string) => decodeBase64Strictly(Buffer.from(text, 'latin1'));

it.each([0, 1, 2, 3, 4, 5])('decodes %i bytes', (length) => {
  const bytes = Buffer.from('\xffa\x00bc'.slice(0, length), 'latin1');
  expect(decode(bytes.toString('base64'))?.equals(bytes)).toBe(true);
});

it.each([-4, 0, 4, 8])('decodes %i symbols more than a slice', (more) => {
  const bytes = Buffer.from(Array.from({ length: ((SLICE_SYMBOLS + more) / 4) * 3 - 1 }, (_, n) => n % 251));
  expect(decode(bytes.toString('base64'))?.equals(bytes)).toBe(true);
});

it.each([0, 1, 4, SLICE_SYMBOLS - 1, SLICE_SYMBOLS, SLICE_SYMBOLS + 7])(
  'knows each symbol at %i for what it is',
  (at) => {
    const text = Buffer.alloc(SLICE_SYMBOLS + 8, 'A');
    for (let symbol = 0; symbol <= 0xff; symbol++) {
      text[at] = symbol;
      const isValid = checkBase64(text.toString('latin1')) === undefined;
      expect([symbol, decodeBase64Strictly(text) !== undefined]).toEqual([symbol, isValid]);
    }
  },
);

it('is as strict as the check of the wire', () => {
  const symbols = fc.constantFrom(...'ABQgwz019+/=-_ \n\r\0"\\é'.split(''));
  fc.assert(
    fc.property(fc.array(symbols, { maxLength: 12 }), (letters) => {
      const text = letters.join('');
      const bytes = decode(text);
      expect(bytes === undefined).toBe(checkBase64(text) !== undefined);
      if (bytes !== undefined) expect(bytes.toString('base64')).toBe(text);
    }),
    { numRuns: 2000 },
  );
});
