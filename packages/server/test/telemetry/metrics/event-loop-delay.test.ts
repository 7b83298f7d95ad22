import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { EventLoopDelay } from '../../../src/telemetry/metrics/event-loop-delay.js';

/** Longer than the loop takes between two looks by itself, in milliseconds. */
const BLOCKED_MS = 300;

test('looks from the first question on, and tells how late the loop was without the time between looks', async () => {
  using delay = new EventLoopDelay();
  expect(delay.sample()).toEqual([]);
  const statistics = new Map<string, number>();
  while (statistics.size === 0) {
    const until = performance.now() + BLOCKED_MS;
    while (performance.now() < until);
    await pause(1);
    for (const { labels, value } of delay.sample()) statistics.set(labels.statistic ?? '', value);
  }
  expect([...statistics.keys()]).toEqual(['mean', 'p50', 'p99', 'max']);
  expect(statistics.get('max')).toBeGreaterThan(0);
  expect(Math.min(...statistics.values())).toBeGreaterThanOrEqual(0);
});
