import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import type { MetricSample } from './metric.js';

/** How often the loop is looked at, in milliseconds. */
const RESOLUTION_MS = 20;
const NANOSECONDS = 1e9;

/**
 * How late the event loop is. Looking at it wakes an idle server fifty times a second, so that begins only when somebody
 * asks for the first time.
 */
export class EventLoopDelay implements Disposable {
  #histogram: IntervalHistogram | undefined;

  /** Seconds since the last time somebody asked. The first who asks learns nothing yet. */
  sample(): MetricSample[] {
    const histogram = this.#histogram;
    if (histogram === undefined) {
      this.#histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
      this.#histogram.enable();
      return [];
    }
    if (histogram.count === 0) return [];
    const statistics = {
      mean: histogram.mean,
      p50: histogram.percentile(50),
      p99: histogram.percentile(99),
      max: histogram.max,
    };
    histogram.reset();
    return Object.entries(statistics).map(([statistic, value]) => ({
      labels: { statistic },
      value: withoutInterval(value),
    }));
  }

  [Symbol.dispose](): void {
    this.#histogram?.disable();
  }
}

/** What is recorded is the time between two looks, of which most is the interval itself. */
function withoutInterval(nanoseconds: number): number {
  return Math.max(0, nanoseconds / NANOSECONDS - RESOLUTION_MS / 1000);
}
