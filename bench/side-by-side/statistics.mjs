/** Single measurements of one round, of which percentiles are asked. */
export class Samples {
  #values;

  constructor(values) {
    this.#values = values;
  }

  /** All of several rounds as one. */
  static join(rounds) {
    return new Samples(rounds.flatMap((samples) => samples.#values));
  }

  /** The smallest value that is no less than `share` of all. */
  percentile(share) {
    const sorted = this.#values.toSorted((a, b) => a - b);
    return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)];
  }

  toJSON() {
    return { p50: this.percentile(0.5), p99: this.percentile(0.99), count: this.#values.length };
  }
}

export function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** How far the rounds lie apart: half the widest distance as a share of the median. */
export function spread(values) {
  return (Math.max(...values) - Math.min(...values)) / median(values) / 2;
}
