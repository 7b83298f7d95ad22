/** Events that wait for one reader, before no more workers are started. */
export const MAX_WAITING_EVENTS = 1024;

/** One reader's events. A reader that is slow holds the job back instead of filling memory. */
class Reader<T> implements AsyncIterableIterator<T> {
  readonly waiting: T[] = [];
  #isOver = false;
  #wake: (() => void) | undefined;

  constructor(private readonly onRoom: (reader: Reader<T>) => void) {}

  get isFull(): boolean {
    return this.waiting.length >= MAX_WAITING_EVENTS;
  }

  push(event: T): void {
    this.waiting.push(event);
    this.#wake?.();
  }

  end(): void {
    this.#isOver = true;
    this.#wake?.();
  }

  async next(): Promise<IteratorResult<T, undefined>> {
    for (;;) {
      const event = this.waiting.shift();
      if (event !== undefined) {
        this.onRoom(this);
        return { value: event, done: false };
      }
      if (this.#isOver) return { value: undefined, done: true };
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  async return(): Promise<IteratorResult<T, undefined>> {
    this.waiting.length = 0;
    this.end();
    this.onRoom(this);
    return { value: undefined, done: true };
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}

/** Hands events to all who read them, each from when it began. */
export class EventQueue<T> {
  readonly #readers = new Set<Reader<T>>();
  #isOver = false;
  #waiters: (() => void)[] = [];

  push(event: T): void {
    for (const reader of this.#readers) reader.push(event);
  }

  /** Nothing follows. */
  end(): void {
    this.#isOver = true;
    for (const reader of this.#readers) reader.end();
  }

  read(): AsyncIterableIterator<T> {
    const reader = new Reader<T>((moved) => {
      if (moved.isOver) this.#readers.delete(moved);
      if (this.#isFull) return;
      for (const wake of this.#waiters.splice(0)) wake();
    });
    if (this.#isOver) reader.end();
    else this.#readers.add(reader);
    return reader;
  }

  /** Resolves when every reader has room; nothing where that is so already. */
  whenReady(): Promise<void> | undefined {
    if (!this.#isFull) return undefined;
    return new Promise((resolve) => this.#waiters.push(resolve));
  }

  get #isFull(): boolean {
    for (const reader of this.#readers) if (reader.isFull) return true;
    return false;
  }
}
