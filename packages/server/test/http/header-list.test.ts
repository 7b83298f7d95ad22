import { expect, it } from 'vitest';
import { basicCredentials, groupByName, hasHeader } from '../../src/http/header-list.js';

it('groups repeats at the place of the first', () => {
  const groups = groupByName([
    ['a', '1'],
    ['b', '2'],
    ['a', '3'],
  ]);
  expect([...groups]).toEqual([
    ['a', ['1', '3']],
    ['b', ['2']],
  ]);
});

it('finds a header by its name', () => {
  expect(hasHeader([['a', '']], 'a')).toBe(true);
  expect(hasHeader([['a', '']], 'b')).toBe(false);
});

it.each([
  ['http://host/', undefined],
  ['http://us@host/', 'us:'],
  ['http://:pw@host/', ':pw'],
  ['http://us%20er:p%40ss@host/', 'us er:p@ss'],
  ['http://50%:%zz@host/', '50%:%zz'],
  ['http://%C3%BC@host/', 'ü:'],
])('the credentials of %s are %j', (url, expected) => {
  const value = basicCredentials(new URL(url));
  const decoded = value?.replace(/^Basic (.*)$/, (_, base64: string) =>
    Buffer.from(base64, 'base64').toString(),
  );
  expect(decoded).toBe(expected);
});
