import { constants } from 'node:fs';
import { EINTR } from './constants.js';
import { checkResult, type Libc } from './libc.js';

// Linux values that neither `node:fs` nor `node:os` exports; the same on every architecture that libc.ts admits.
export const O_CLOEXEC = 0o2000000;
export const F_SETFD = 2;
const F_SETFL = 4;
const F_DUPFD_CLOEXEC = 1030;
export const FD_CLOEXEC = 1;

/** Sets `O_NONBLOCK`, which belongs to the open file: every duplicate of the descriptor gets it as well. */
export function setNonBlocking(libc: Libc, fd: number): void {
  checkResult(libc, libc.fcntl(fd, F_SETFL, constants.O_NONBLOCK), 'fcntl');
}

/** A close-on-exec duplicate with the lowest free number that is not below `atLeast`. */
export function duplicateDescriptor(libc: Libc, fd: number, atLeast = 3): number {
  return checkResult(libc, libc.fcntl(fd, F_DUPFD_CLOEXEC, atLeast), 'fcntl');
}

/** A read or write that a signal interrupted is repeated; everything else is the caller's. */
export function retryInterrupted(libc: Libc, call: () => number): number {
  for (;;) {
    const result = call();
    if (result >= 0 || libc.errno() !== EINTR) return result;
  }
}

/** Descriptors that belong to a step which may still fail. */
export class DescriptorScope {
  readonly #libc: Libc;
  readonly #open = new Set<number>();

  constructor(libc: Libc) {
    this.#libc = libc;
  }

  own(fd: number): number {
    this.#open.add(fd);
    return fd;
  }

  /** Hands the descriptor over to somebody who closes it. */
  release(fd: number): number {
    this.#open.delete(fd);
    return fd;
  }

  close(fd: number): void {
    if (this.#open.delete(fd)) this.#libc.close(fd);
  }

  closeAll(): void {
    for (const fd of this.#open) this.#libc.close(fd);
    this.#open.clear();
  }
}
