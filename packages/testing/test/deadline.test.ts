import { expect, test } from 'vitest';
import { before } from '../src/deadline.js';

test('gives what the event gives', async () => {
  expect(await before(Promise.resolve(7), () => new Error('late'))).toBe(7);
  await expect(before(Promise.reject(new Error('broken')), () => new Error('late'))).rejects.toThrow(
    'broken',
  );
});

test('fails once the deadline has passed', async () => {
  await expect(before(new Promise(() => {}), () => new Error('late'), 1)).rejects.toThrow('late');
});
