/**
 * The group and session that a child leads, by the child's number. The number is used only while it is known to be
 * theirs: once the child is reaped and the last member is gone, the system may give it to anybody.
 */
export class ProcessGroup {
  /** Resolves when nothing is left of the group and the session. */
  readonly gone: Promise<void>;
  readonly #send: (signal: number) => boolean;
  #groupGone = false;
  #leaderReaped = false;
  #forgotten = false;
  #resolveGone = () => {};

  /** @param send signals the group; false when it does not exist */
  constructor(send: (signal: number) => boolean) {
    this.#send = send;
    this.gone = new Promise((resolve) => {
      this.#resolveGone = resolve;
    });
  }

  get leaderReaped(): boolean {
    return this.#leaderReaped;
  }

  /** True when the number means nobody of it any more. */
  get forgotten(): boolean {
    return this.#forgotten;
  }

  /** False when there is nobody left to signal. */
  signal(signal: number): boolean {
    this.#groupGone ||= !this.#send(signal);
    return !this.#groupGone;
  }

  /** From here on the number is free for a new process as soon as the group is empty. */
  reapedLeader(): void {
    this.#leaderReaped = true;
    this.#groupGone = !this.#exists();
  }

  #exists(): boolean {
    try {
      return this.#send(0);
    } catch {
      // Who may not be signalled, such as another user's process, is there.
      return true;
    }
  }

  /** Nothing of it is left, or its number is somebody else's by now. */
  forget(): void {
    this.#groupGone = true;
    this.#forgotten = true;
    this.#resolveGone();
  }
}
