import { expect, test } from 'vitest';
import { formatMetrics } from '../../../src/telemetry/metrics/format-metrics.js';

test('counters and gauges are a line per sample', () => {
  const samples = [
    { labels: {}, value: 1 },
    { labels: { a: 'x', b: 'y' }, value: 0.25 },
  ];
  expect(formatMetrics([{ type: 'counter', name: 'c_total', help: 'Words.', samples }])).toBe(
    '# HELP c_total Words.\n# TYPE c_total counter\nc_total 1\nc_total{a="x",b="y"} 0.25\n',
  );
});

test('a histogram has its buckets, the one without a bound last, its sum and its count', () => {
  const sample = { labels: { m: 'x' }, buckets: [{ upTo: 0.5, count: 1 }], count: 3, sum: 9 };
  expect(formatMetrics([{ type: 'histogram', name: 'h', help: 'H.', samples: [sample] }])).toBe(
    [
      '# HELP h H.',
      '# TYPE h histogram',
      'h_bucket{m="x",le="0.5"} 1',
      'h_bucket{m="x",le="+Inf"} 3',
      'h_sum{m="x"} 9',
      'h_count{m="x"} 3',
      '',
    ].join('\n'),
  );
});

test('quotes, backslashes and line ends cannot leave their place', () => {
  const samples = [{ labels: { a: 'q"b\\n\n' }, value: 1 }];
  const text = formatMetrics([{ type: 'gauge', name: 'g', help: 'two\nlines', samples }]);
  expect(text).toBe('# HELP g two\\nlines\n# TYPE g gauge\ng{a="q\\"b\\\\n\\n"} 1\n');
});
