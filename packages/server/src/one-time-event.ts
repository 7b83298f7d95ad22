/** Something that happens once or never. Its promise is made when somebody waits for it, which mostly nobody does. */
export class OneTimeEvent {
  #happened = false;
  #promise: Promise<void> | undefined;
  #resolve: (() => void) | undefined;

  get happened(): boolean {
    return this.#happened;
  }

  /** Resolves when it has happened. */
  get promise(): Promise<void> {
    if (this.#happened) return Promise.resolve();
    this.#promise ??= new Promise((resolve) => {
      this.#resolve = resolve;
    });
    return this.#promise;
  }

  /** Does nothing the second time. */
  happen(): void {
    this.#happened = true;
    this.#resolve?.();
    this.#resolve = undefined;
    this.#promise = undefined;
  }
}
