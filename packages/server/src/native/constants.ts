import { constants } from 'node:os';

export const { EAGAIN, EINTR, EIO, ENOENT, EACCES, ENOTDIR, EINVAL, EPIPE, ESRCH, ECHILD, E2BIG, EBADF } =
  constants.errno;
/** "Not supported": what a launcher that cannot do something answers instead of doing something else. */
export const ENOTSUP = constants.errno.EOPNOTSUPP;

export const SIGKILL = constants.signals.SIGKILL;

/** Longest chunk that an output hands out, in bytes. */
export const MAX_CHUNK_BYTES = 65_536;
