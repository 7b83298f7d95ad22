import { OneTimeEvent } from '../../one-time-event.js';
import { isPopulated, readThreads, removeGroup, setFrozen } from './cgroup-files.js';

/**
 * The cgroup of one child and of everything that it starts, which no program leaves by forking, by a session of its own or
 * by losing its parents.
 */
export class ProcessCgroup {
  readonly #emptied = new OneTimeEvent();
  #abandoned = false;

  constructor(readonly path: string) {}

  /** Resolves some time after the child has been reaped and nobody is left in the group. */
  get emptied(): Promise<void> {
    return this.#emptied.promise;
  }

  /** Whether somebody is in it, or nobody can say. */
  get populated(): boolean {
    try {
      return !this.#abandoned && isPopulated(this.path);
    } catch {
      return true;
    }
  }

  /** Every thread of the processes in it. Throws when it cannot look. */
  readThreads(): number[] {
    return this.#abandoned ? [] : readThreads(this.path);
  }

  /** Keeps everybody in it from running, whoever's they are, until `thaw`. Only a kill reaches them. */
  freeze(): void {
    try {
      if (!this.#abandoned) setFrozen(this.path, true);
    } catch {
      // Then they are stopped one by one, and those who fork are looked for again.
    }
  }

  /** Throws when they may be frozen still. */
  thaw(): void {
    if (!this.#abandoned) setFrozen(this.path, false);
  }

  /** Removes it if nobody is in it. */
  removeIfEmpty(): boolean {
    if (!this.#abandoned && !removeGroup(this.path)) return false;
    this.#emptied.happen();
    return true;
  }

  /** Nobody is in it, and from here on it is somebody else's: nothing is done to the group any more. */
  handOver(): void {
    this.#abandoned = true;
    this.#emptied.happen();
  }

  /** Nothing is done to the group any more: a thread of this process is in it, which must not be frozen or killed. */
  abandon(): void {
    this.#abandoned = true;
  }
}
