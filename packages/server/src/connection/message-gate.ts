/** Keeps messages in order while the answer to one of them takes its time. */
export class MessageGate {
  #held: (() => void)[] | undefined;

  get isOpen(): boolean {
    return this.#held === undefined;
  }

  /** Takes a message now, or when those before it have been taken. */
  pass(take: () => void): void {
    if (this.#held === undefined) take();
    else this.#held.push(take);
  }

  /** Holds back what comes until `wait` has settled. */
  async closeUntil(wait: Promise<unknown>): Promise<void> {
    this.#held = [];
    try {
      await wait;
    } finally {
      const held = this.#held;
      this.#held = undefined;
      // One of them may close the gate again.
      for (const take of held) this.pass(take);
    }
  }
}
