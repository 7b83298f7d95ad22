import { surfaceErrors } from '../notification-hub.js';

/** Who wants to be told of one kind of thing. */
export class Listeners<T> {
  readonly #entries = new Set<(value: T) => void>();

  /** Adds a listener; the function it returns removes it. One that is added twice is told twice. */
  add(listener: (value: T) => void): () => void {
    const entry = (value: T) => listener(value);
    this.#entries.add(entry);
    return () => void this.#entries.delete(entry);
  }

  /** Tells everybody who listens now. What a listener throws keeps it from no other. */
  tell(value: T): void {
    for (const entry of Array.from(this.#entries)) surfaceErrors(() => entry(value));
  }

  clear(): void {
    this.#entries.clear();
  }
}
