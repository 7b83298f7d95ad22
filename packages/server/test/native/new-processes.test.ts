import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { NewProcesses, type VisitOutcome } from '../../src/native/new-processes.js';

/** Longer than anything here takes, in milliseconds. */
const PLENTY_MS = 60_000;

/** Tells of numbers that were given one after the other, and then of no more. */
function tell(numbers: readonly (number | undefined)[], limit = 1_000) {
  const left = [...numbers];
  let last: number | undefined;
  const readLast = () => {
    if (left.length > 0) last = left.shift();
    return last;
  };
  return new NewProcesses({ readLast, readLimit: () => limit });
}

function visitAll(newProcesses: NewProcesses): { visited: number[]; outcome: VisitOutcome } {
  const visited: number[] = [];
  const outcome = newProcesses.visit((pid) => visited.push(pid), PLENTY_MS);
  return { visited, outcome };
}

it('names processes that were started since, and that have ended again', async () => {
  const before = spawn('/bin/true');
  await once(before, 'exit');
  const newProcesses = new NewProcesses();
  const child = spawn('/bin/true');
  await once(child, 'exit');
  const { visited, outcome } = visitAll(newProcesses);
  expect(outcome).toBe('all');
  expect(visited).toContain(child.pid);
  expect(visited).not.toContain(before.pid);
});

it.each([
  ['none', [500], []],
  ['one', [500, 501], [501]],
  ['some, the newest first', [500, 503], [503, 502, 501]],
  ['more while it looks', [500, 501, 503], [501, 503, 502]],
  ['from the beginning again', [997, 301], [301, 300, 999, 998]],
  ['none where that is not told', [undefined, undefined], []],
  ['none where that is not told any more', [500, undefined], []],
])('visits all numbers that were given: %s', (_, numbers, expected) => {
  expect(visitAll(tell(numbers))).toEqual({ visited: expected, outcome: 'all' });
});

it('goes on where its time was over, with the newest first again', () => {
  const newProcesses = tell([500, 503, 505]);
  const visited: number[] = [];
  const visitOne = () => newProcesses.visit((pid) => visited.push(pid), 0);
  expect([visitOne(), visitOne(), visitOne(), visitOne(), visitOne()]).toEqual(Array(5).fill('more'));
  expect(visited).toEqual([503, 505, 504, 502, 501]);
  expect(visitOne()).toBe('all');
});

it.each([
  [32_767, true],
  [32_768, true],
  [32_769, false],
])('visits %d numbers one by one: %s', (count, expected) => {
  const { visited, outcome } = visitAll(tell([1, 1 + count]));
  expect([visited.length, outcome]).toEqual(expected ? [count, 'all'] : [0, 'lost']);
});
