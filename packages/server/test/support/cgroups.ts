import { writeSync } from 'node:fs';
import type { SkippableTest } from '@exec-server/testing';
import { probeCgroups } from '../../src/native/cgroup/cgroup-home.js';

const STDERR = 2;
/** The user who has no rights. */
export const NOBODY = 65_534;

/** The cgroup of this process, in which a test can make others. Where it cannot, the test is skipped. */
export function requireCgroups(test: SkippableTest): string {
  const support = probeCgroups();
  return support.usable ? support.directory : skipVisibly(test, `cgroups: ${support.reason}`);
}

/** Skips a test for want of something that not every machine has, with a line past the runner's capture. */
export function skipVisibly(test: SkippableTest, need: string): never {
  writeSync(STDERR, `SKIPPED: ${test.task.name} needs ${need}\n`);
  return test.skip(`needs ${need}`);
}

/** Skips a test that changes whose rights it has. */
export function requireRoot(test: SkippableTest): void {
  if (process.getuid!() !== 0) skipVisibly(test, 'root');
}

/** Runs `act` with the rights of that user. */
export function asNobody<Result>(act: () => Result): Result {
  process.seteuid!(NOBODY);
  try {
    return act();
  } finally {
    process.seteuid!(0);
  }
}
