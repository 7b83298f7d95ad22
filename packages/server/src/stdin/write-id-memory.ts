/** Remembers the newest accepted write ids of a process, so that a retried write is not written twice. */
export class WriteIdMemory {
  readonly #ids = new Set<string>();

  /** @param limit how many ids are kept; the oldest go first */
  constructor(private readonly limit: number) {}

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  add(id: string): void {
    this.#ids.add(id);
    if (this.#ids.size > this.limit) {
      const [oldest] = this.#ids;
      this.#ids.delete(oldest!);
    }
  }
}
