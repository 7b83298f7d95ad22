import { expect, it } from 'vitest';
import { parsePlace, placeText } from '../../src/files/place.js';

it.each([
  ['remote:/a', 'remote', '/a'],
  ['remote:', 'remote', ''],
  ['./remote:/a', 'local', './remote:/a'],
  ['a', 'local', 'a'],
])('%s', (text, side, path) => {
  expect(parsePlace(text)).toEqual({ side, path });
  expect(placeText(parsePlace(text))).toBe(text);
});
