import { expect, test } from 'vitest';
import { Histogram } from '../../../src/telemetry/metrics/histogram.js';

test('counts a value under each bound that it does not exceed', () => {
  const histogram = new Histogram([1, 2]);
  for (const value of [0.5, 1, 1.5, 2, 2.5]) histogram.observe(value);
  expect(histogram.sample({ a: 'b' })).toEqual({
    labels: { a: 'b' },
    buckets: [
      { upTo: 1, count: 2 },
      { upTo: 2, count: 4 },
    ],
    count: 5,
    sum: 7.5,
  });
});
