import { expect, test } from 'vitest';
import { joinBytes } from '../src/join-bytes.js';

test('both parts follow each other in memory of their own', () => {
  const first = Uint8Array.of(1, 2);
  const second = Uint8Array.of(3);
  const joined = joinBytes(first, second);
  first.fill(9);
  second.fill(9);
  expect(joined).toEqual(Uint8Array.of(1, 2, 3));
  expect(joinBytes(new Uint8Array(), new Uint8Array())).toEqual(new Uint8Array());
});
