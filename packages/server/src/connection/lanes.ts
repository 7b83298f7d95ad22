/** What a running request may do with its place. */
export interface Place {
  /** Gives the place up while `wait` is pending, so that a request that waits never delays another. */
  park<T>(wait: Promise<T>): Promise<T>;
}

/** The connection that answers are queued to. */
export interface AnswerQueue {
  /** False while the other side is behind in reading. */
  readonly writable: boolean;
  whenWritable(): Promise<void>;
}

export interface LaneLimits {
  /** Ordinary requests that run at once. */
  readonly concurrentRequests: number;
  /** Requests queued, running or waiting. */
  readonly pendingRequests: number;
  /** Message bytes of those. */
  readonly pendingRequestBytes: number;
}

type Job = (place: Place) => Promise<void>;

/**
 * The order in which the requests of one connection run. Ordinary ones start in arrival order, a bounded number at
 * once, and none starts while the other side does not take answers; control requests start at once, always.
 */
export class Lanes {
  readonly #arrived: (() => void)[] = [];
  readonly #resumed: (() => void)[] = [];
  #running = 0;
  #pending = 0;
  #pendingBytes = 0;
  #waitsForQueue = false;

  constructor(
    private readonly limits: LaneLimits,
    private readonly queue: AnswerQueue,
  ) {}

  /** Requests that have not been answered yet. */
  get pending(): number {
    return this.#pending;
  }

  /** Takes a request of `bytes` size. False when too many are pending: nothing of it runs then. */
  submit(lane: 'control' | 'ordinary', bytes: number, job: Job): boolean {
    if (this.#pending >= this.limits.pendingRequests) return false;
    if (this.#pending > 0 && this.#pendingBytes + bytes > this.limits.pendingRequestBytes) return false;
    this.#pending++;
    this.#pendingBytes += bytes;
    const settle = () => {
      this.#pending--;
      this.#pendingBytes -= bytes;
    };
    if (lane === 'control') void job({ park: (wait) => wait }).finally(settle);
    else {
      this.#arrived.push(() => void this.#run(job).finally(settle));
      this.#pump();
    }
    return true;
  }

  async #run(job: Job): Promise<void> {
    let placed = true;
    const leave = () => {
      if (!placed) return;
      placed = false;
      this.#running--;
      this.#pump();
    };
    const park = async <T>(wait: Promise<T>): Promise<T> => {
      leave();
      try {
        return await wait;
      } finally {
        await new Promise<void>((resolve) => {
          this.#resumed.push(resolve);
          this.#pump();
        });
        placed = true;
      }
    };
    try {
      await job({ park });
    } finally {
      leave();
    }
  }

  #pump(): void {
    while (this.#running < this.limits.concurrentRequests) {
      if (!this.queue.writable) return this.#pumpWhenWritable();
      const start = this.#resumed.shift() ?? this.#arrived.shift();
      if (start === undefined) return;
      this.#running++;
      start();
    }
  }

  #pumpWhenWritable(): void {
    if (this.#waitsForQueue || this.#resumed.length + this.#arrived.length === 0) return;
    this.#waitsForQueue = true;
    void this.queue.whenWritable().then(() => {
      this.#waitsForQueue = false;
      this.#pump();
    });
  }
}
