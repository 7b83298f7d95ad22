import { expect, it } from 'vitest';
import { runConcurrently } from '../src/run-concurrently.js';

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

it.each([1, 2, 3, 10])('runs everything once, at most %i at once', async (atOnce) => {
  const done: number[] = [];
  let present = 0;
  let most = 0;
  await runConcurrently([1, 2, 3, 4, 5], { atOnce, signal: undefined }, async (item) => {
    most = Math.max(most, ++present);
    await turn();
    present--;
    done.push(item);
  });
  expect(done).toEqual([1, 2, 3, 4, 5]);
  expect(most).toBe(Math.min(atOnce, 5));
});

it('ends with the first failure, when all that had begun are over', async () => {
  const begun: number[] = [];
  let over = 0;
  const running = runConcurrently([1, 2, 3, 4], { atOnce: 2, signal: undefined }, async (item, signal) => {
    begun.push(item);
    try {
      await turn();
      if (item === 1) throw new Error('first');
      await turn();
      signal.throwIfAborted();
    } finally {
      over++;
    }
  });
  await expect(running).rejects.toThrow('first');
  expect([begun, over]).toEqual([[1, 2], 2]);
});

it('ends with its signal', async () => {
  const abort = new AbortController();
  const running = runConcurrently([1, 2, 3], { atOnce: 1, signal: abort.signal }, async (_, signal) => {
    abort.abort(new Error('enough'));
    signal.throwIfAborted();
  });
  await expect(running).rejects.toThrow('enough');
  const late = runConcurrently([1], { atOnce: 1, signal: abort.signal }, () => Promise.resolve());
  await expect(late).rejects.toThrow('enough');
});
