import { describe, expect, it } from 'vitest';
import { JobState } from '../../src/store/job-state.js';
import type { EndEntry, JobStatus, JournalEntry, StartEntry } from '../../src/store/journal-entry.js';

const start = (attempt: number): StartEntry => ({
  type: 'start',
  item: 0,
  attempt,
  machine: 'm',
  session: 's',
  directory: '/d',
  at: 1,
});
const end = (attempt: number, status: EndEntry['status'], more: Partial<EndEntry> = {}): EndEntry => ({
  type: 'end',
  item: 0,
  attempt,
  status,
  at: 2,
  ...more,
});
const exit = (attempt: number): JournalEntry => ({ type: 'exit', item: 0, attempt, outcome: '', at: 3 });
const job = (status: JobStatus): JournalEntry => ({ type: 'job', status, at: 1 });

const play = (...entries: readonly JournalEntry[]) => {
  const state = new JobState(1);
  return entries.map((entry) => state.apply(entry));
};

describe('JobState', () => {
  it.each<[string, readonly JournalEntry[], readonly boolean[]]>([
    ['an item starts once', [start(1), start(1), start(2)], [true, false, false]],
    ['an item ends once', [start(1), end(1, 'completed'), end(1, 'failed')], [true, true, false]],
    ['what does not run cannot end', [end(1, 'failed')], [false]],
    ['another attempt cannot end it', [start(1), end(2, 'failed'), end(0, 'failed')], [true, false, false]],
    [
      'a retry is the next attempt',
      [start(1), end(1, 'pending'), start(1), start(2)],
      [true, true, false, true],
    ],
    ['what has failed does not start', [start(1), end(1, 'failed'), start(2)], [true, true, false]],
    [
      'an exit counts once, after a report',
      [start(1), end(1, 'completed', { reportedAt: 2 }), exit(1), exit(1)],
      [true, true, true, false],
    ],
    ['there is no such item', [{ ...start(1), item: 1 }], [false]],
    [
      'a job completes once',
      [job('completed'), job('running'), job('completed'), job('cancelled')],
      [false, true, true, false],
    ],
    [
      'a failed job goes on, a cancelled one does not',
      [job('running'), job('failed'), job('running'), job('cancelled'), job('running')],
      [true, true, true, true, false],
    ],
  ])('%s', (_, entries, applied) => {
    expect(play(...entries)).toEqual(applied);
  });

  it('counts and remembers', () => {
    const state = new JobState(2);
    state.apply(start(1));
    state.apply(end(1, 'pending', { error: 'once' }));
    state.apply(start(2));
    expect(state.counts).toEqual({ pending: 1, running: 1, completed: 0, failed: 0 });
    state.apply(end(2, 'failed', { error: 'twice' }), { offset: 5, length: 6 });
    expect(state.counts).toEqual({ pending: 1, running: 0, completed: 0, failed: 1 });
    expect(state.items[0]).toMatchObject({
      attempts: 2,
      error: 'twice',
      end: { offset: 5 },
      completedAt: 2,
      isGone: true,
    });
  });
});
