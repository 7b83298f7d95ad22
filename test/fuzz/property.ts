import fc from 'fast-check';
import { test } from 'vitest';

/** Seed of the runs in the suite, so that they are the same ones everywhere. */
const SUITE_SEED = 20_260_731;

/** Time beyond that of the property itself in which a run has to end, in milliseconds: shrinking is part of it. */
const TIME_TO_REPORT_MS = 240_000;

/** The seed of this run; `FUZZ_SEED` chooses another one. */
export const FUZZ_SEED = Number(process.env.FUZZ_SEED ?? SUITE_SEED);

/** How long each property is tried, in milliseconds; absent in the suite, which counts runs instead. */
const FUZZ_PROPERTY_MS =
  process.env.FUZZ_PROPERTY_MS === undefined ? undefined : Number(process.env.FUZZ_PROPERTY_MS);

/** Where fast-check begins, and when it stops: after so many runs, or in a long run when the time is up. */
export function runParameters(
  runs: number,
): Pick<fc.Parameters, 'seed' | 'numRuns' | 'interruptAfterTimeLimit'> {
  if (FUZZ_PROPERTY_MS === undefined) return { seed: FUZZ_SEED, numRuns: runs };
  return { seed: FUZZ_SEED, numRuns: Number.MAX_SAFE_INTEGER, interruptAfterTimeLimit: FUZZ_PROPERTY_MS };
}

/** Time that a test has which is made of `properties` properties, in milliseconds. */
export function testTimeout(properties = 1): number {
  return TIME_TO_REPORT_MS + properties * (FUZZ_PROPERTY_MS ?? 0);
}

/**
 * A test of a property with random input. It is named with its seed; a failure tells the smallest input found that fails,
 * and the seed and the path that lead there.
 */
export function testProperty<T>(
  name: string,
  property: fc.IAsyncProperty<T> | fc.IProperty<T>,
  runs: number,
): void {
  test(`${name} (seed ${FUZZ_SEED})`, { timeout: testTimeout() }, async () => {
    await fc.assert(property, runParameters(runs));
  });
}
