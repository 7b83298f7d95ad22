import type { Writable } from 'node:stream';

/** Gathers what is written in one turn of the loop into one system call. */
export class TickCork {
  readonly #stream: Writable;
  #corked = false;

  constructor(stream: Writable) {
    this.#stream = stream;
  }

  /** Holds back what is written until the code that runs now has finished. */
  hold(): void {
    if (this.#corked) return;
    this.#corked = true;
    this.#stream.cork();
    process.nextTick(this.#release);
  }

  readonly #release = (): void => {
    this.#corked = false;
    this.#stream.uncork();
  };
}
