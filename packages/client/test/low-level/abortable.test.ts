import { expect, test } from 'vitest';
import { abortable, delay } from '../../src/low-level/abortable.js';

test('settles as its promise does', async () => {
  const { signal } = new AbortController();
  expect(await abortable(Promise.resolve(1), signal)).toBe(1);
  expect(await abortable(Promise.resolve(2), undefined)).toBe(2);
  await expect(abortable(Promise.reject(new Error('no')), signal)).rejects.toThrow('no');
});

test('rejects with the reason of the signal', async () => {
  const never = new Promise<void>(() => {});
  const reason = new Error('enough');
  await expect(abortable(never, AbortSignal.abort(reason))).rejects.toBe(reason);
  const controller = new AbortController();
  const waiting = abortable(never, controller.signal);
  controller.abort(reason);
  await expect(waiting).rejects.toBe(reason);
});

test('a delay can be given up', async () => {
  const controller = new AbortController();
  await delay(1, controller.signal);
  const waiting = delay(2 ** 30, controller.signal);
  controller.abort(new Error('enough'));
  await expect(waiting).rejects.toThrow('enough');
});
