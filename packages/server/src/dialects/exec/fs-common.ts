import { constants } from 'node:os';
import {
  ForeignPathError,
  internalError,
  invalidParams,
  invalidRequest,
  notFound,
  pathUriToNative,
  type RpcError,
  type SandboxContext,
} from '@exec-server/protocol';
import type { OsError } from '../../os-error.js';
import { findFileRestriction } from '../../sandbox/restrictions.js';

const { EACCES, EINVAL, ENOENT, EPERM } = constants.errno;

const SLASH = 0x2f;

/** The path of this host that a URI names, without slashes at its end. */
export function toNativePath(uri: string): Uint8Array {
  try {
    const path = pathUriToNative(uri);
    let end = path.length;
    while (end > 1 && path[end - 1] === SLASH) end--;
    return path.subarray(0, end);
  } catch (error) {
    throw error instanceof ForeignPathError ? invalidRequest(error.message) : error;
  }
}

/** Throws for a sandbox context that takes anything away from an operation on files. */
export function refuseFileRestriction(sandbox: SandboxContext | null | undefined): void {
  const restriction = findFileRestriction(sandbox);
  if (restriction !== undefined)
    throw invalidParams(`sandbox intent cannot be enforced on this executor: ${restriction}`);
}

/** The answer for a failed system call. */
export function osErrorToRpc(error: OsError): RpcError {
  switch (error.errno) {
    case ENOENT:
      return notFound(error.message);
    case EINVAL:
    case EACCES:
    case EPERM:
      return invalidRequest(error.message);
    default:
      return internalError(error.message);
  }
}
