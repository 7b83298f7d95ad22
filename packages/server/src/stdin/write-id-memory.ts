import { createHash } from 'node:crypto';

/** Ids up to this many characters are kept as they are; of longer ones a digest of that size is. */
const MAX_KEPT_CHARACTERS = 64;

/** Remembers the newest accepted write ids of a process, so that a retried write is not written twice. */
export class WriteIdMemory {
  readonly #ids = new Set<string>();

  /** @param limit how many ids are kept; the oldest go first */
  constructor(private readonly limit: number) {}

  has(id: string): boolean {
    return this.#ids.has(shorten(id));
  }

  add(id: string): void {
    this.#ids.add(shorten(id));
    if (this.#ids.size > this.limit) {
      const [oldest] = this.#ids;
      this.#ids.delete(oldest!);
    }
  }
}

/** A client chooses its ids, and could choose them as long as a message. */
function shorten(id: string): string {
  return id.length <= MAX_KEPT_CHARACTERS
    ? id
    : createHash('sha256')
        .update(id)
        .digest('hex')
        .padEnd(MAX_KEPT_CHARACTERS + 1);
}
