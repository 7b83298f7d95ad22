import { OneTimeEvent } from '../one-time-event.js';

/**
 * The group and session that a child leads, by the child's number. The number is used only while it is known to be
 * theirs: once the child is reaped and the last member is gone, the system may give it to anybody.
 */
export class ProcessGroup {
  readonly #leader: number;
  readonly #send: (leader: number, signal: number) => boolean;
  readonly #gone = new OneTimeEvent();
  #groupGone = false;
  #leaderReaped = false;

  /** @param send signals the group that `leader` leads or led; false when it does not exist */
  constructor(leader: number, send: (leader: number, signal: number) => boolean) {
    this.#leader = leader;
    this.#send = send;
  }

  /** Resolves when nothing is left of the group and the session. */
  get gone(): Promise<void> {
    return this.#gone.promise;
  }

  get leaderReaped(): boolean {
    return this.#leaderReaped;
  }

  /** True when the number means nobody of it any more. */
  get forgotten(): boolean {
    return this.#gone.happened;
  }

  /** False when there is nobody left to signal. */
  signal(signal: number): boolean {
    this.#groupGone ||= !this.#send(this.#leader, signal);
    return !this.#groupGone;
  }

  /** From here on the number is free for a new process as soon as the group is empty. */
  reapedLeader(): void {
    this.#leaderReaped = true;
    this.#groupGone = !this.#exists();
  }

  #exists(): boolean {
    try {
      return this.#send(this.#leader, 0);
    } catch {
      // Who may not be signalled, such as another user's process, is there.
      return true;
    }
  }

  /** Nothing of it is left, or its number is somebody else's by now. */
  forget(): void {
    this.#groupGone = true;
    this.#gone.happen();
  }
}
