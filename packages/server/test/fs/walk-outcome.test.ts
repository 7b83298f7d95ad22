import { expect, it } from 'vitest';
import { WalkOutcome } from '../../src/fs/walk-outcome.js';

const LIMIT = 4 * 1024 * 1024;
const OVERHEAD = 64;

/** An outcome with this many bytes left. */
function fillUpTo(left: number): WalkOutcome {
  const outcome = new WalkOutcome();
  outcome.addEntry('u'.repeat(LIMIT - left - OVERHEAD), 'file');
  return outcome;
}

it.each([
  [OVERHEAD + 11, true],
  [OVERHEAD + 10, true],
  [OVERHEAD + 9, false],
])('an item of 10 characters with %i bytes left', (left, fits) => {
  const entries = fillUpTo(left);
  expect([entries.addEntry('u'.repeat(10), 'directory'), entries.truncated]).toEqual([fits, !fits]);
  expect(entries.entries.length).toBe(fits ? 2 : 1);
  const failures = fillUpTo(left);
  expect([failures.addError('u'.repeat(4), 'm'.repeat(6)), failures.truncated]).toEqual([fits, !fits]);
  expect(failures.failures.length).toBe(fits ? 1 : 0);
});
