import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { CallTimeoutError, PendingCallLimitError } from '../src/index.js';
import { PendingCalls } from '../src/pending-calls.js';

const ignore = () => {};

describe('PendingCalls', () => {
  test('numbers calls from 1 and settles them by id, in any order', async () => {
    const calls = new PendingCalls(8);
    const ids: number[] = [];
    const first = calls.run('m', {}, (id) => ids.push(id));
    const second = calls.run('m', {}, (id) => ids.push(id));
    expect(ids).toEqual([1, 2]);
    expect(calls.resolve(2, 'b')).toBe(true);
    expect(calls.reject(1, new Error('a'))).toBe(true);
    await expect(first).rejects.toThrow('a');
    expect(await second).toBe('b');
    expect(calls.size).toBe(0);
  });

  test('tells ids that were issued from those that never were', async () => {
    const calls = new PendingCalls(8);
    const call = calls.run('m', {}, ignore);
    calls.resolve(1, null);
    await call;
    expect(calls.resolve(1, null)).toBe(false);
    expect(calls.wasIssued(1)).toBe(true);
    for (const id of [0, 2, -1, '1', 1n]) expect(calls.wasIssued(id)).toBe(false);
  });

  test('counts what has no answer yet, also what was given up', async () => {
    const calls = new PendingCalls(8);
    const given = new AbortController();
    const abandoned = calls.run('m', { signal: given.signal }, ignore);
    const waiting = calls.run('m', {}, ignore);
    given.abort(new Error('enough'));
    await expect(abandoned).rejects.toThrow('enough');
    expect(calls).toMatchObject({ size: 1, unansweredCount: 2 });
    calls.resolve(1, null);
    expect(calls).toMatchObject({ size: 1, unansweredCount: 1 });
    calls.resolve(99, null);
    expect(calls.unansweredCount).toBe(1);
    calls.resolve(2, null);
    await waiting;
    expect(calls).toMatchObject({ size: 0, unansweredCount: 0 });
  });

  test('a call that is exempt takes no place among the others', async () => {
    const calls = new PendingCalls(1);
    const ordinary = calls.run('m', {}, ignore);
    const exempt = calls.run('m', { exempt: true }, ignore);
    calls.resolve(1, 'a');
    calls.resolve(2, 'b');
    expect(await Promise.all([ordinary, exempt])).toEqual(['a', 'b']);
  });

  test('allows calls up to the limit and no further', async () => {
    const limit = 3;
    const calls = new PendingCalls(limit);
    const running = [1, 2].map(() => calls.run('m', {}, ignore));
    expect(calls.size).toBe(limit - 1);
    running.push(calls.run('m', {}, ignore));
    let sent = false;
    const refused = calls.run('m', {}, () => {
      sent = true;
    });
    await expect(refused).rejects.toThrow(PendingCallLimitError);
    expect(sent).toBe(false);
    calls.resolve(2, 'done');
    running.push(calls.run('m', {}, ignore));
    expect(calls.size).toBe(limit);
    calls.rejectAll(new Error('over'));
    expect((await Promise.allSettled(running)).map((call) => call.status)).toEqual([
      'rejected',
      'fulfilled',
      'rejected',
      'rejected',
    ]);
  });

  test('a call that is not answered in time fails, and its late answer finds nobody', async () => {
    const calls = new PendingCalls(8);
    const call = calls.run('slow', { timeoutMs: 1 }, ignore);
    await expect(call).rejects.toMatchObject({ name: CallTimeoutError.name, method: 'slow', timeoutMs: 1 });
    expect(calls.resolve(1, 'late')).toBe(false);
    expect(calls.wasIssued(1)).toBe(true);
  });

  test('a timeout beyond what timers take does not fire at once', async () => {
    const calls = new PendingCalls(8);
    const call = calls.run('m', { timeoutMs: 2 ** 31 }, (id) =>
      setTimeout(() => calls.resolve(id, 'answer'), 2),
    );
    expect(await call).toBe('answer');
  });

  test.each([-1, Number.NaN])('refuses timeoutMs %d', async (timeoutMs) => {
    await expect(new PendingCalls(8).run('m', { timeoutMs }, ignore)).rejects.toThrow(RangeError);
  });

  test('an abort rejects with its reason and leaves no listener', async () => {
    const calls = new PendingCalls(8);
    const controller = new AbortController();
    const call = calls.run('m', { signal: controller.signal }, ignore);
    controller.abort(new Error('changed my mind'));
    await expect(call).rejects.toThrow('changed my mind');
    expect(calls.size).toBe(0);
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
  });

  test('a call with an aborted signal is not sent', async () => {
    let sent = false;
    const call = new PendingCalls(8).run('m', { signal: AbortSignal.abort('no') }, () => {
      sent = true;
    });
    await expect(call).rejects.toBe('no');
    expect(sent).toBe(false);
  });

  test('a call that cannot be sent fails and frees its place', async () => {
    const calls = new PendingCalls(1);
    const call = calls.run('m', {}, () => {
      throw new TypeError('cannot encode');
    });
    await expect(call).rejects.toThrow('cannot encode');
    expect(calls.size).toBe(0);
  });
});
