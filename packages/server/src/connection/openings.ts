/**
 * Requests of a connection that will open something by name, a process or a file, and have not begun yet. A request that
 * goes past all others, such as one to end that process, must not go past the one that makes it.
 */
export class Openings {
  readonly #queued = new Map<string, Promise<void>>();

  /** Notes an opening that has arrived; the returned function is called when it has begun or never will. */
  add(key: string): () => void {
    const earlier = this.#queued.get(key);
    let begin = () => {};
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const all = earlier === undefined ? begun : Promise.all([earlier, begun]).then(() => {});
    this.#queued.set(key, all);
    void all.then(() => {
      if (this.#queued.get(key) === all) this.#queued.delete(key);
    });
    return begin;
  }

  /** Resolves when every opening of that name that arrived before has begun; absent when there is none to wait for. */
  before(key: string): Promise<void> | undefined {
    return this.#queued.get(key);
  }
}
