import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkBase64, decodeBase64, encodeBase64 } from '../src/index.js';

describe('checkBase64', () => {
  it.each(['', 'QQ==', 'QUI=', 'QUJD', 'QUJDRA==', '+/+/'])('%j is fine', (text) => {
    expect(checkBase64(text)).toBeUndefined();
  });

  it.each([
    ['!', 'Invalid symbol 33, offset 0.'],
    ['R', 'Invalid input length: 1'],
    ['QUJDR', 'Invalid input length: 5'],
    ['RR', 'Invalid padding'],
    ['RR=', 'Invalid padding'],
    ['RR==', 'Invalid last symbol 82, offset 1.'],
    ['QUJ=', 'Invalid last symbol 74, offset 2.'],
    ['QUJDRB==', 'Invalid last symbol 66, offset 5.'],
    ['Q===', 'Invalid symbol 61, offset 1.'],
    ['====', 'Invalid symbol 61, offset 0.'],
    ['QQ==QQ==', 'Invalid symbol 61, offset 2.'],
    ['QQ===', 'Invalid symbol 61, offset 2.'],
    ['QUI==', 'Invalid symbol 61, offset 3.'],
    ['QUJD=', 'Invalid symbol 61, offset 4.'],
    ['Q=Q=', 'Invalid symbol 61, offset 1.'],
    ['QU=D', 'Invalid symbol 61, offset 2.'],
    ['Q Q=', 'Invalid symbol 32, offset 1.'],
    ['QQ==\n', 'Invalid symbol 10, offset 4.'],
    ['\nQQ==', 'Invalid symbol 10, offset 0.'],
    ['QUé=', 'Invalid symbol 195, offset 2.'],
    ['€', 'Invalid symbol 226, offset 0.'],
    ['😀', 'Invalid symbol 240, offset 0.'],
    ['-_==', 'Invalid symbol 45, offset 0.'],
  ])('%j is refused', (text, problem) => {
    expect(checkBase64(text)).toBe(problem);
  });

  it('takes a payload of many megabytes without running out of stack', () => {
    const text = 'QUJD'.repeat(4 * 1024 * 1024);
    expect(checkBase64(text)).toBeUndefined();
    expect(checkBase64(`${text}!`)).toBe(`Invalid symbol 33, offset ${text.length}.`);
  });

  it('accepts exactly the canonical spelling', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[A-Za-z0-9+/=]{0,12}$/), (text) => {
        const canonical = Buffer.from(text, 'base64').toString('base64') === text;
        expect(checkBase64(text) === undefined).toBe(canonical);
      }),
      { numRuns: 2_000 },
    );
  });
});

it('encodes and decodes like Buffer', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
      const text = encodeBase64(bytes);
      expect(text).toBe(Buffer.from(bytes).toString('base64'));
      expect(decodeBase64(text)).toEqual(bytes);
    }),
  );
});
