import { accessSync, constants } from 'node:fs';
import { constants as os } from 'node:os';
import { joinPath, normalizePath, parentPath } from '../../fs/native-path.js';
import type { ExitStatus } from '../../native/launch.js';
import { accessTo } from '../policy/access.js';
import { compileGlob } from '../policy/glob.js';
import type { FilePolicy, ResolvedPolicy } from '../policy/policy.js';
import { findComplaints } from './find-complaints.js';

/** What a confined process was allowed, where it ran, and what it said. */
export interface Confined {
  readonly policy: ResolvedPolicy;
  /** Absolute directory that its relative paths started at. */
  readonly cwd: Uint8Array;
  /** The streams, as far as they were kept. */
  readonly output: readonly Buffer[];
}

/** What the kernel ends processes with that call it in a forbidden way, directly or as a shell reports it. */
const { SIGSYS } = os.signals;
const SIGSYS_CODE = 128 + SIGSYS;

/**
 * Decides whether the sandbox is why a process failed. The kernel leaves no record of a refused call, so that the
 * process's own words are the lead, but they are not enough:
 * - a process that succeeded was not denied anything that mattered to it;
 * - one that was ended for a forbidden system call was denied it;
 * - of one that complains of a path, the policy must withhold just that from that path, and the server, which is the same
 *   user outside of the sandbox, must have it;
 * - of one that complains of the network, the network must be restricted.
 */
export function judgeDenial(status: ExitStatus, { policy, cwd, output }: Confined): boolean {
  if (status.kind === 'exited' && status.code === 0) return false;
  if (status.kind === 'signaled') return status.signal === SIGSYS;
  if (status.kind === 'exited' && status.code === SIGSYS_CODE) return true;
  return output.some((stream) =>
    findComplaints(stream.toString()).some((complaint) => {
      if (complaint.about === 'network') return policy.network === 'restricted';
      return policy.files !== 'unrestricted' && withholds(policy.files, toAbsolute(complaint.path, cwd));
    }),
  );
}

function toAbsolute(path: string, cwd: Uint8Array): Buffer {
  const bytes = Buffer.from(path);
  return normalizePath(path.startsWith('/') ? bytes : joinPath(cwd, bytes));
}

/** Whether a policy takes something from a path that this user otherwise has. */
function withholds(files: FilePolicy, path: Buffer): boolean {
  const isDenied = files.denyGlobs.some((pattern) => compileGlob(pattern).matches(path.toString()));
  switch (isDenied ? 'deny' : accessTo(files.entries, path)) {
    case 'write':
      return false;
    case 'read':
      return mayUse(path, constants.W_OK) || mayMake(path);
    case 'deny':
      return mayUse(path, constants.R_OK) || mayMake(path);
  }
}

function mayMake(path: Buffer): boolean {
  return !mayUse(path, constants.F_OK) && mayUse(parentPath(path), constants.W_OK);
}

function mayUse(path: Buffer, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}
