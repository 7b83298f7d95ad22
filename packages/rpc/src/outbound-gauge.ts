/**
 * Tells producers when to stop and when to go on. It is full from the moment the queue reaches the high mark until
 * it has fallen to the low mark; the distance between them keeps producers from stopping and starting at every byte.
 */
export class OutboundGauge {
  readonly #highWaterBytes: number;
  readonly #lowWaterBytes: number;
  #full = false;
  #closed = false;
  /** One promise for all waiters, so that waiting costs the same however many there are. */
  #drained: { promise: Promise<void>; resolve: () => void } | undefined;

  constructor(highWaterBytes: number, lowWaterBytes: number) {
    if (!(highWaterBytes > 0) || !(lowWaterBytes >= 0) || lowWaterBytes >= highWaterBytes) {
      throw new RangeError(`low water mark ${lowWaterBytes} must be below high water mark ${highWaterBytes}`);
    }
    this.#highWaterBytes = highWaterBytes;
    this.#lowWaterBytes = lowWaterBytes;
  }

  get writable(): boolean {
    return !this.#full;
  }

  update(bufferedBytes: number): void {
    if (this.#closed) return;
    if (bufferedBytes >= this.#highWaterBytes) this.#full = true;
    else if (this.#full && bufferedBytes <= this.#lowWaterBytes) this.#release();
  }

  /** Nobody waits for a queue that is gone. */
  close(): void {
    this.#closed = true;
    this.#release();
  }

  whenWritable(): Promise<void> {
    if (!this.#full) return Promise.resolve();
    if (this.#drained === undefined) {
      let resolve = () => {};
      const promise = new Promise<void>((settle) => {
        resolve = settle;
      });
      this.#drained = { promise, resolve };
    }
    return this.#drained.promise;
  }

  #release(): void {
    this.#full = false;
    this.#drained?.resolve();
    this.#drained = undefined;
  }
}
