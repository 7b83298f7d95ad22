import { constants } from 'node:os';
import type { ErrorDetail, ErrorReason } from '@exec-server/protocol';
import type { OsError } from '../os-error.js';

const { E2BIG, EACCES, EDQUOT, EEXIST, EISDIR, ENOENT, ENOSPC, ENOTDIR, ENOTEMPTY, EPERM } = constants.errno;

// Of two names of one number, such as EAGAIN and EWOULDBLOCK, the first counts.
const ERRNO_NAMES = new Map(
  Object.entries(constants.errno)
    .reverse()
    .map(([name, errno]) => [errno, name]),
);

const REASONS: ReadonlyMap<number, ErrorReason> = new Map<number, ErrorReason>([
  [ENOENT, 'file_not_found'],
  [EEXIST, 'file_exists'],
  [EACCES, 'permission_denied'],
  [EPERM, 'permission_denied'],
  [ENOTDIR, 'not_a_directory'],
  [EISDIR, 'is_a_directory'],
  [ENOTEMPTY, 'directory_not_empty'],
  [ENOSPC, 'disk_full'],
  [EDQUOT, 'disk_full'],
]);

/** The name of a failed system call about a file, and its number by name. */
export function fileFailure(error: OsError): [reason: ErrorReason, detail: ErrorDetail] {
  return [REASONS.get(error.errno) ?? 'os_error', errnoDetail(error)];
}

/** The name of a failure to run a program, whose cause may be a system call, and the number of that by name. */
export function spawnFailure(cause: OsError | undefined): [reason: ErrorReason, detail: ErrorDetail] {
  if (cause === undefined) return ['spawn_failed', {}];
  return [cause.errno === E2BIG ? 'argument_too_long' : 'spawn_failed', errnoDetail(cause)];
}

/** The number of a failed system call, by its name; nothing where this platform has none for it. */
function errnoDetail({ errno }: OsError): ErrorDetail {
  const name = ERRNO_NAMES.get(errno);
  return name === undefined ? {} : { errno: name };
}
