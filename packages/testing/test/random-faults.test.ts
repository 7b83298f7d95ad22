import { expect, test } from 'vitest';
import { describeFault, randomFaults } from '../src/index.js';

const seeds = Array.from({ length: 200 }, (_, index) => index + 1);

test('the seed alone decides', () => {
  for (const seed of seeds) expect(randomFaults(seed)).toEqual(randomFaults(seed));
  const stories = new Set(seeds.map((seed) => randomFaults(seed).map(describeFault).join('\n')));
  expect(stories.size).toBe(seeds.length);
});

test('everything that can happen does, to connections in turn', () => {
  const schedules = seeds.map((seed) => randomFaults(seed));
  const faults = schedules.flat();
  expect([...new Set(faults.map(({ action }) => action))].sort()).toEqual([
    'cut',
    'cutAfter',
    'delay',
    'halfClose',
    'strand',
    'truncate',
  ]);
  expect(new Set(schedules.map(({ length }) => length))).toEqual(new Set([1, 2, 3, 4]));
  for (const schedule of schedules)
    expect(schedule.map(({ connection }) => connection)).toEqual(schedule.map((_, index) => index + 1));
});

test('bounds are kept', () => {
  const bounds = { maxFaults: 2, maxBytes: { toClient: 10, toServer: 20 }, actions: ['cut'] as const };
  for (const seed of seeds) {
    const faults = randomFaults(seed, bounds);
    expect(faults.length).toBeLessThanOrEqual(2);
    for (const { at, direction, action } of faults) {
      expect(action).toBe('cut');
      if ('bytes' in at) expect(at.bytes).toBeLessThanOrEqual(bounds.maxBytes[direction]);
    }
  }
});

test('a fault can be read', () => {
  expect(
    [
      { direction: 'toClient', at: { bytes: 7 }, action: 'cut', refuse: 1, connection: 2 } as const,
      { direction: 'toServer', at: { message: 3 }, action: 'delay', delayMs: 5 } as const,
      { direction: 'toServer', at: { matching: () => true, name: 'a write' }, action: 'strand' } as const,
    ].map(describeFault),
  ).toEqual([
    'cut toClient on connection 2 at byte 7, then 1 refused',
    'delay of 5 ms toServer on any connection at message 3',
    'strand toServer on any connection at a write',
  ]);
});
