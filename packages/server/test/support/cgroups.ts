import { type SkippableTest, skipFor } from '@exec-server/testing';
import { probeCgroups } from '../../src/native/cgroup/cgroup-home.js';

/** The user who has no rights. */
export const NOBODY = 65_534;

/** The cgroup of this process, in which a test can make others. Where it cannot, the test is skipped. */
export function requireCgroups(test: SkippableTest): string {
  const support = probeCgroups();
  return support.usable ? support.directory : skipFor(test, `cgroups: ${support.reason}`);
}

/** Skips a test that changes whose rights it has. */
export function requireRoot(test: SkippableTest): void {
  if (process.getuid!() !== 0) skipFor(test, 'root');
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

/** The same for what goes on for a while. */
export async function asNobodyUntil<Result>(act: () => Promise<Result>): Promise<Result> {
  process.seteuid!(NOBODY);
  try {
    return await act();
  } finally {
    process.seteuid!(0);
  }
}
