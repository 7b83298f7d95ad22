/** What a request does to files, as far as the order of requests goes. */
export type FileAccess = 'reads' | 'changes';

/** The place of a request among the others. */
export interface FileTurn {
  /** Resolves when everything that has to be over before is; absent when there is nothing to wait for. */
  readonly before: Promise<unknown> | undefined;
  /** Call it when the request is over. */
  done(): void;
}

/**
 * Keeps requests about files in the order in which a client sent them, where that can be seen: one that changes files
 * comes after everything before it, and what reads files, a program that is started included, comes after every change
 * before it. Reads run beside each other. Paths are not compared, because links give one file many.
 */
export class FileOrder {
  #changes: Promise<unknown> | undefined;
  readonly #reads = new Set<Promise<void>>();

  take(access: FileAccess): FileTurn {
    let done = () => {};
    const over = new Promise<void>((resolve) => {
      done = resolve;
    });
    const before = access === 'reads' ? this.#changes : this.#everything();
    if (access === 'reads') {
      this.#reads.add(over);
      void over.then(() => this.#reads.delete(over));
    } else {
      this.#changes = over;
      void over.then(() => {
        if (this.#changes === over) this.#changes = undefined;
      });
    }
    return { before, done };
  }

  #everything(): Promise<unknown> | undefined {
    if (this.#reads.size === 0) return this.#changes;
    return Promise.all([this.#changes, ...this.#reads]);
  }
}
