import { ESRCH } from './constants.js';
import type { Libc } from './libc.js';
import { OsError } from './os-error.js';

/** A process group by the number of its leader, which is signalled only while the number is known to be its own. */
export class ProcessGroup {
  readonly #libc: Libc;
  readonly #leader: number;
  #gone = false;

  constructor(libc: Libc, leader: number) {
    this.#libc = libc;
    this.#leader = leader;
  }

  signal(signal: number): boolean {
    if (this.#gone) return false;
    if (this.#libc.kill(-this.#leader, signal) === 0) return true;
    const errno = this.#libc.errno();
    if (errno !== ESRCH) throw new OsError(errno, 'kill');
    this.#gone = true;
    return false;
  }

  /** From here on the number is free for a new process as soon as the group is empty. */
  leaderReaped(): void {
    if (this.#libc.kill(-this.#leader, 0) !== 0 && this.#libc.errno() === ESRCH) this.#gone = true;
  }

  forget(): void {
    this.#gone = true;
  }
}
