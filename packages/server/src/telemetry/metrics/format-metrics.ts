import type { HistogramSample, Metric } from './metric.js';

/** What {@link formatMetrics} writes. */
export const METRICS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

type Labels = Readonly<Record<string, string>>;

/** Writes metrics in the text form that Prometheus reads. */
export function formatMetrics(metrics: readonly Metric[]): string {
  return metrics.map(formatMetric).join('');
}

function formatMetric(metric: Metric): string {
  const { name, help, type } = metric;
  const lines =
    metric.type === 'histogram'
      ? metric.samples.flatMap((sample) => formatHistogram(name, sample))
      : metric.samples.map(({ labels, value }) => formatSample(name, labels, value));
  return [`# HELP ${name} ${escapeText(help)}`, `# TYPE ${name} ${type}`, ...lines, ''].join('\n');
}

function formatHistogram(name: string, { labels, buckets, count, sum }: HistogramSample): string[] {
  return [
    ...buckets.map((bucket) =>
      formatSample(`${name}_bucket`, { ...labels, le: String(bucket.upTo) }, bucket.count),
    ),
    formatSample(`${name}_bucket`, { ...labels, le: '+Inf' }, count),
    formatSample(`${name}_sum`, labels, sum),
    formatSample(`${name}_count`, labels, count),
  ];
}

function formatSample(name: string, labels: Labels, value: number): string {
  const pairs = Object.entries(labels).map(
    ([label, text]) => `${label}="${escapeText(text).replaceAll('"', '\\"')}"`,
  );
  return `${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}`;
}

function escapeText(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}
