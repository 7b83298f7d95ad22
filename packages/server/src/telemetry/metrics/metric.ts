/** One value of a metric. */
export interface MetricSample {
  /** What tells it from the other samples of its metric. Names and values are the server's own, never a client's. */
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** How often values fell under each bound. */
export interface HistogramSample {
  readonly labels: Readonly<Record<string, string>>;
  /** Values at or below each bound, in ascending order of bounds; those above the last are in `count` alone. */
  readonly buckets: readonly { readonly upTo: number; readonly count: number }[];
  readonly count: number;
  readonly sum: number;
}

/** A metric with its samples. Counters only grow; everything else is as of now. */
export type Metric =
  | {
      readonly type: 'counter' | 'gauge';
      readonly name: string;
      readonly help: string;
      readonly samples: readonly MetricSample[];
    }
  | {
      readonly type: 'histogram';
      readonly name: string;
      readonly help: string;
      readonly samples: readonly HistogramSample[];
    };
