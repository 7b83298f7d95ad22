import type { Libc } from './libc.js';

const F_SETPIPE_SZ = 1031;

/** What a pipe holds once it is enlarged, in bytes: the most that an ordinary user may ask for. */
export const LARGE_PIPE_BYTES = 1_048_576;

/**
 * Pipes that are large at the same time. All pipes of a user share 64 MiB; beyond them the kernel gives every new pipe of
 * that user, also those of other programs, two pages only.
 */
export const MAX_LARGE_PIPES = 16;

let largePipes = 0;

/** Makes room in a pipe that its writer keeps full. False where there may be no more large ones; the pipe works as before. */
export function enlargePipe(libc: Libc, fd: number): boolean {
  if (largePipes >= MAX_LARGE_PIPES) return false;
  if (libc.fcntl(fd, F_SETPIPE_SZ, LARGE_PIPE_BYTES) < 0) return false;
  largePipes += 1;
  return true;
}

/** Notes that a pipe which was enlarged is closed. */
export function forgetLargePipe(): void {
  largePipes -= 1;
}
