import { expect, it } from 'vitest';
import { checkUuid } from '../src/uuid.js';

const ANY_CHARACTER =
  'invalid character: expected an optional prefix of `urn:uuid:` followed by [0-9a-fA-F-], found';

it.each([
  ['6ba7b810-9dad-11d1-80b4-00c04fd430c8', undefined],
  ['6BA7B810-9DAD-11D1-80B4-00C04FD430C8', undefined],
  ['00000000-0000-0000-0000-000000000000', undefined],
  ['6ba7b8109dad11d180b400c04fd430c8', undefined],
  ['urn:uuid:6ba7b810-9dad-11d1-80b4-00c04fd430c8', undefined],
  ['{6ba7b810-9dad-11d1-80b4-00c04fd430c8}', undefined],
  ['', 'invalid length: expected length 32 for simple format, found 0'],
  ['6ba7b8109dad11d180b400c04fd430c8aa', 'invalid length: expected length 32 for simple format, found 34'],
  ['6ba7b810-9dad-11d1-80b4', 'invalid group count: expected 5, found 4'],
  ['6ba7b810-9dad-11d1-80b4-00c04fd430c', 'invalid group length in group 4: expected 12, found 11'],
  ['x', `${ANY_CHARACTER} \`x\` at 1`],
  ['6ba7b810-9dad-11d1-80b4-00c04fd430cg', `${ANY_CHARACTER} \`g\` at 36`],
])('%j', (text, problem) => {
  expect(checkUuid(text)).toBe(problem);
});
