import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { describe, expect, it, onTestFinished } from 'vitest';
import { GROW_FLAG, HOLD_FLAG, holdYoungGeneration } from '../../src/serve/young-generation.js';

/** Holds it, and notes which flags are set. */
function hold() {
  const flags: string[] = [];
  const release = holdYoungGeneration((flag) => {
    flags.push(flag);
    setFlagsFromString(flag);
  });
  onTestFinished(release);
  return { flags, release };
}

/** Makes garbage and keeps some of it for a while, a turn of the loop at a time, until `done`. */
async function allocateUntil(done: () => boolean): Promise<void> {
  let kept: object[] = [];
  while (!done()) {
    for (let made = 0; made < 10_000; made++) kept.push({ made, more: [made] });
    if (kept.length > 100_000) kept = [];
    await nextTurn();
  }
}

describe('the young generation', () => {
  it('is held, and left to V8 when it is released', () => {
    const { flags, release } = hold();
    expect(flags).toEqual([HOLD_FLAG]);
    release();
    expect(flags).toEqual([HOLD_FLAG, GROW_FLAG]);
  });

  it('may grow while collecting it is a load', async () => {
    const { flags } = hold();
    await allocateUntil(() => flags.length > 1);
    expect(flags).toEqual([HOLD_FLAG, GROW_FLAG]);
  });
});
