import { openSync } from 'node:fs';
import { retryInterrupted } from './descriptors.js';
import { checkResult, type Libc, loadLibc } from './libc.js';

/** The table of this process's mounts, which says when it has changed. */
const MOUNT_TABLE = '/proc/self/mountinfo';

// `struct pollfd`, the same on every architecture that libc.ts admits.
const POLLFD_BYTES = 8;
const EVENTS_AT = 4;
const RESULT_AT = 6;
const POLLPRI = 0x2;

class MountChanges {
  readonly #libc: Libc = loadLibc();
  readonly #entry = Buffer.alloc(POLLFD_BYTES);
  #count = 0;

  constructor() {
    // Held for good: what has changed since is what has changed since it was opened, or asked last.
    this.#entry.writeInt32LE(openSync(MOUNT_TABLE, 'r'));
    this.#entry.writeInt16LE(POLLPRI, EVENTS_AT);
  }

  count(): number {
    const poll = () => this.#libc.pollDescriptors(this.#entry, 1, 0);
    checkResult(this.#libc, retryInterrupted(this.#libc, poll), 'poll');
    if ((this.#entry.readInt16LE(RESULT_AT) & POLLPRI) !== 0) this.#count++;
    return this.#count;
  }
}

let changes: MountChanges | undefined;

/**
 * A number that is another one when the mounts of this process are others than at the last call. It takes one system call
 * however many mounts there are; reading them takes a second for some ten thousands. Throws `OsError`.
 */
export function countMountChanges(): number {
  changes ??= new MountChanges();
  return changes.count();
}
