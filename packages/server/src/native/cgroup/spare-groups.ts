import { createThreadedGroup, enterGroup, isUntouched, removeGroup } from './cgroup-files.js';

/** Groups kept for children to come. Each takes some memory of the kernel's; more would serve only bursts. */
export const MAX_SPARE_GROUPS = 8;

/**
 * Groups that nobody is in, for the children to come. To make one and to remove it takes the kernel a fifth of the time
 * of a short program, much of it later, on the cores that the next program is to run on; so a group whose child is gone
 * is used again if it is as it was made.
 */
export class SpareGroups {
  readonly #choosePath: () => string;
  readonly #paths: string[] = [];
  #preparing = false;
  #closed = false;

  /** @param choosePath names a group that is to be made */
  constructor(choosePath: () => string) {
    this.#choosePath = choosePath;
  }

  /** Moves this thread into a group that nobody else is in, and returns its path. Throws what the system says. */
  enter(): string {
    const path = this.#paths.pop() ?? this.#create();
    try {
      enterGroup(path);
    } catch (error) {
      removeGroup(path);
      throw error;
    }
    if (this.#paths.length === 0) this.#prepareNext();
    return path;
  }

  /** Takes back a group whose child has been reaped; false when it is not wanted, or is not as it was made. */
  offer(path: string): boolean {
    if (this.#closed || this.#paths.length >= MAX_SPARE_GROUPS || !isUntouched(path)) return false;
    this.#paths.push(path);
    return true;
  }

  /** Lets go of the groups, which whoever removes what they are in removes too. */
  close(): void {
    this.#closed = true;
    this.#paths.length = 0;
  }

  #create(): string {
    const path = this.#choosePath();
    createThreadedGroup(path);
    return path;
  }

  /** Makes the next group when there is time: that takes longer than to enter it. */
  #prepareNext(): void {
    if (this.#preparing) return;
    this.#preparing = true;
    setImmediate(() => {
      this.#preparing = false;
      if (this.#closed || this.#paths.length > 0) return;
      try {
        this.#paths.push(this.#create());
      } catch {
        // Whoever needs it tries again, and hears why not.
      }
    }).unref();
  }
}
