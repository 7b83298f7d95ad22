import { OsError } from '../os-error.js';
import { EAGAIN } from './constants.js';
import { loadLibc } from './libc.js';

const LOCK_SHARED = 1;
const LOCK_EXCLUSIVE = 2;
const LOCK_NON_BLOCKING = 4;

/**
 * Locks an open file or directory, or changes the lock that this open has on it. A lock ends when the descriptor is
 * closed, at the latest with this process. False when somebody else's lock is in the way. Throws `OsError`.
 */
export function tryLock(fd: number, kind: 'shared' | 'exclusive'): boolean {
  const libc = loadLibc();
  const operation = (kind === 'shared' ? LOCK_SHARED : LOCK_EXCLUSIVE) | LOCK_NON_BLOCKING;
  if (libc.flock(fd, operation) === 0) return true;
  const errno = libc.errno();
  if (errno === EAGAIN) return false;
  throw new OsError(errno, 'flock');
}
