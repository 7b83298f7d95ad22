import type { ConnectionResource } from '../dialect.js';

/** The ids that a connection's processes have in this dialect, from their start until their end was told. */
export class Commands implements ConnectionResource {
  readonly #live = new Set<string>();
  #lastNumber = 0;

  /** Runs `start` with the next id. The id of a start that fails is the next one's. */
  async number<T>(start: (id: string) => Promise<T>): Promise<T> {
    const number = ++this.#lastNumber;
    const id = `session-${number}`;
    this.#live.add(id);
    try {
      return await start(id);
    } catch (error) {
      this.#live.delete(id);
      if (this.#lastNumber === number) this.#lastNumber--;
      throw error;
    }
  }

  has(id: string): boolean {
    return this.#live.has(id);
  }

  free(id: string): void {
    this.#live.delete(id);
  }

  close(): void {
    this.#live.clear();
  }
}
