import type { HistogramSample } from './metric.js';

/** Counts values by the bounds that they fall under. */
export class Histogram {
  readonly #counts: number[];
  #above = 0;
  #sum = 0;

  /** `bounds` ascend. */
  constructor(private readonly bounds: readonly number[]) {
    this.#counts = bounds.map(() => 0);
  }

  observe(value: number): void {
    this.#sum += value;
    // Most values fall under one of the first bounds, where a plain walk is the fastest search.
    for (let index = 0; index < this.bounds.length; index++) {
      if (value > this.bounds[index]!) continue;
      this.#counts[index]!++;
      return;
    }
    this.#above++;
  }

  sample(labels: HistogramSample['labels']): HistogramSample {
    let count = 0;
    const buckets = this.bounds.map((upTo, index) => {
      count += this.#counts[index]!;
      return { upTo, count };
    });
    return { labels, buckets, count: count + this.#above, sum: this.#sum };
  }
}
