import { expect, it } from 'vitest';
import { readCount, readPositiveCount } from '../src/option-values.js';

it.each([
  ['0', 0],
  ['7', 7],
  ['007', 7],
  ['+5', 5],
  ['9007199254740991', Number.MAX_SAFE_INTEGER],
  ['9007199254740992', Number.MAX_SAFE_INTEGER],
  ['18446744073709551615', Number.MAX_SAFE_INTEGER],
])('reads the count %s', (text, value) => {
  expect(readCount(text, '--x <N>')).toBe(value);
});

it.each([
  ['', 'cannot parse integer from empty string'],
  ['-1', 'invalid digit found in string'],
  ['+', 'invalid digit found in string'],
  ['1.5', 'invalid digit found in string'],
  ['1e3', 'invalid digit found in string'],
  [' 1', 'invalid digit found in string'],
  ['18446744073709551616', 'number too large to fit in target type'],
])('refuses the count %j', (text, why) => {
  expect(() => readCount(text, '--x <N>')).toThrow(`invalid value '${text}' for '--x <N>': ${why}`);
});

it('wants at least one where zero means nothing', () => {
  expect(readPositiveCount('1', '--x <N>')).toBe(1);
  expect(() => readPositiveCount('0', '--x <N>')).toThrow('number would be zero for non-zero type');
});
