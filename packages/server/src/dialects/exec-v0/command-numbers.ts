import type { ConnectionResource } from '../dialect.js';

/** Counts the processes that a connection has started in this dialect, from 1. */
export class CommandNumbers implements ConnectionResource {
  #last = 0;

  /** Runs `start` with the next number, which is free again when it fails. */
  async take<T>(start: (number: number) => Promise<T>): Promise<T> {
    const number = ++this.#last;
    try {
      return await start(number);
    } catch (error) {
      if (this.#last === number) this.#last--;
      throw error;
    }
  }

  close(): void {
    // Numbers are nothing to give back.
  }
}
