import fc from 'fast-check';
import { test } from 'vitest';
import { FUZZ_SEED, runParameters, testTimeout } from '../fuzz/property.js';
import { Stage } from './play-schedule.js';
import { formatSchedule, schedule } from './schedule.js';

const SCHEDULES = 1_000;
/** Servers that play at the same time, each with a seed and a clock of its own. */
const STAGES = 4;

/** Plays random schedules one after the other. A stage on which one failed is not used again. */
async function playRandomSchedules(seed: number): Promise<void> {
  let stage = new Stage();
  const property = fc.asyncProperty(schedule, async (steps) => {
    try {
      await stage.play(steps);
    } catch (error) {
      await stage[Symbol.asyncDispose]();
      stage = new Stage();
      throw error;
    }
  });
  try {
    const parameters = { ...runParameters(SCHEDULES / STAGES), seed };
    const details = await fc.check(property, parameters);
    if (!details.failed) return;
    const [failed] = details.counterexample ?? [];
    const replay = failed === undefined ? '' : `\n\nPlay it again with:\n${formatSchedule(failed)}`;
    throw new Error(`${fc.defaultReportMessage(details)}${replay}`, { cause: details.errorInstance });
  } finally {
    await stage[Symbol.asyncDispose]();
  }
}

test(`${SCHEDULES} schedules of two clients end as the model says (seed ${FUZZ_SEED})`, {
  timeout: testTimeout(),
}, async () => {
  await Promise.all(Array.from({ length: STAGES }, (_, index) => playRandomSchedules(FUZZ_SEED + index)));
});
