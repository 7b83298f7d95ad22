import { expect, it } from 'vitest';
import { describeHoldings, measureGrowth, soak } from './soak.js';

const { SOAK_SECONDS, SOAK_SEED } = process.env;
const SECONDS = Number(SOAK_SECONDS ?? 20);
const SEED = Number(SOAK_SEED ?? 1);
const IS_LONG = SOAK_SECONDS !== undefined;
/** Beside the time itself: the warm-up, and until what was left behind has gone; in milliseconds. */
const MARGIN_MS = 150_000;

const MIB = 1024 * 1024;
/** What the heap may differ by between two moments of the same work. */
const ALLOWED_HEAP_GROWTH_BYTES = 16 * MIB;
/** The same of resident memory, which the allocator gives back when it likes. */
const ALLOWED_RESIDENT_GROWTH_BYTES = 96 * MIB;

it(`${SECONDS} seconds of everything at once, with cuts: no byte lost or doubled, nothing left (seed ${SEED})`, {
  timeout: SECONDS * 1000 + MARGIN_MS,
}, async () => {
  const report = await soak({
    durationMs: SECONDS * 1000,
    seed: SEED,
    ...(IS_LONG && {
      onSample: (holdings, rounds) => console.log(`${describeHoldings(holdings)}; ${JSON.stringify(rounds)}`),
    }),
  });
  for (const [name, rounds] of Object.entries(report.rounds))
    expect(rounds, `rounds of ${name}`).toBeGreaterThan(0);
  const { descriptors, timers, queuedBytes } = report.after;
  expect({ descriptors, timers, queuedBytes }).toEqual({
    descriptors: report.before.descriptors,
    timers: report.before.timers,
    queuedBytes: 0,
  });
  expect(measureGrowth(report.samples, 'heapBytes')).toBeLessThan(ALLOWED_HEAP_GROWTH_BYTES);
  expect(measureGrowth(report.samples, 'residentBytes')).toBeLessThan(ALLOWED_RESIDENT_GROWTH_BYTES);
  if (IS_LONG)
    console.log(`before: ${describeHoldings(report.before)}\nafter: ${describeHoldings(report.after)}`);
});
