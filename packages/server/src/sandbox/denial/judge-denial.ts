import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { constants as os } from 'node:os';
import type { Clock } from '../../clock.js';
import { joinPath, normalizePath, parentPath, splitPath } from '../../fs/native-path.js';
import { LoopTurn } from '../../loop-turn.js';
import type { ExitStatus } from '../../native/launch.js';
import { type CompiledGlob, compileGlob, countSteps } from '../policy/glob.js';
import type { FilePolicy, ResolvedPolicy } from '../policy/policy.js';
import { findComplaints } from './find-complaints.js';

/** Newest bytes of each stream that are searched, beside its beginning, for why a confined program failed. */
export const MAX_SEARCHED_BYTES = 48 * 1024;
/** Paths that a failed program complains of which are looked at, those that it named last. */
export const MAX_COMPLAINTS = 64;
/** Longest path that the kernel takes, in bytes. */
const MAX_PATH_BYTES = 4_095;
/** Longest name in a path of a usual file system, in bytes. */
const MAX_NAME_BYTES = 255;
/** Longest that looking at paths may take, in milliseconds: some file systems never answer. */
export const MAX_JUDGING_MS = 1_000;

/** What a confined process was allowed, where it ran, and what it said. */
export interface Confined {
  readonly policy: ResolvedPolicy;
  /** Absolute directory that its relative paths started at. */
  readonly cwd: Uint8Array;
  readonly clock: Clock;
  /** The streams in the pieces that are left of them; no line goes from one piece to the next. */
  readonly output: readonly Buffer[];
}

/** What the kernel ends processes with that call it in a forbidden way, directly or as a shell reports it. */
const { SIGSYS } = os.signals;
const SIGSYS_CODE = 128 + SIGSYS;

/**
 * Decides by how a confined process ended whether the sandbox is why it failed; nothing where its words have to tell. A
 * process that succeeded was not denied anything that mattered to it; one that was ended for a forbidden system call was
 * denied it.
 */
export function judgeStatus(status: ExitStatus): boolean | undefined {
  if (status.kind === 'exited' && status.code === 0) return false;
  if (status.kind === 'signaled') return status.signal === SIGSYS;
  if (status.kind === 'exited' && status.code === SIGSYS_CODE) return true;
  return undefined;
}

/**
 * Decides by what a failed process said whether the sandbox is why it failed. The kernel leaves no record of a refused
 * call, so that the process's own words are the lead, but they are not enough:
 * - of one that complains of a path, the policy must withhold just that from that path, and the server, which is the same
 *   user outside of the sandbox, must have it;
 * - of one that complains of the network, the network must be restricted.
 *
 * What cannot be found out in time is no denial. Never rejects.
 */
export async function judgeWords(confined: Confined): Promise<boolean> {
  return new Promise((resolve) => {
    const work = new BoundedWork();
    const timer = confined.clock.after(MAX_JUDGING_MS, () => {
      work.stop();
      resolve(false);
    });
    void isExplained(confined, work)
      .catch(() => false)
      .then((denied) => {
        timer.cancel();
        resolve(denied);
      });
  });
}

/** Work in turns of the loop, which rejects when it goes on although its time is over. */
class BoundedWork {
  readonly #turn = new LoopTurn();
  #isStopped = false;

  stop(): void {
    this.#isStopped = true;
  }

  /** Call it after as much work as so many ordinary steps. */
  async goOn(steps = 1): Promise<void> {
    if (this.#turn.isOverAfter(steps)) await this.#turn.pause();
    if (this.#isStopped) throw new Error('there is no time left to look at what a program complains of');
  }
}

async function isExplained({ policy, cwd, output }: Confined, work: BoundedWork): Promise<boolean> {
  const paths = new Set<string>();
  for (const piece of output) {
    for (const complaint of findComplaints(piece.toString())) {
      await work.goOn();
      if (complaint.about === 'path') keepNewest(paths, complaint.path);
      else if (policy.network === 'restricted') return true;
    }
  }
  if (policy.files === 'unrestricted') return false;
  const globs = await compileGlobs(policy.files, work);
  for (const path of paths) {
    const absolute = toAbsolute(path, cwd);
    if (canExist(absolute) && (await withholds(policy.files, globs, absolute, work))) return true;
  }
  return false;
}

/** What a program said last is the best lead. */
function keepNewest(paths: Set<string>, path: string): void {
  paths.delete(path);
  paths.add(path);
  const [oldest] = paths;
  if (paths.size > MAX_COMPLAINTS && oldest !== undefined) paths.delete(oldest);
}

async function compileGlobs({ denyGlobs }: FilePolicy, work: BoundedWork): Promise<CompiledGlob[]> {
  const globs: CompiledGlob[] = [];
  for (const pattern of denyGlobs) {
    globs.push(compileGlob(pattern));
    await work.goOn(countSteps(pattern.length));
  }
  return globs;
}

function canExist(path: Buffer): boolean {
  return path.length <= MAX_PATH_BYTES && splitPath(path).every(({ length }) => length <= MAX_NAME_BYTES);
}

function toAbsolute(path: string, cwd: Uint8Array): Buffer {
  const bytes = Buffer.from(path);
  return normalizePath(path.startsWith('/') ? bytes : joinPath(cwd, bytes));
}

/** Whether a policy takes something from a path that this user otherwise has. */
async function withholds(
  files: FilePolicy,
  globs: readonly CompiledGlob[],
  path: Buffer,
  work: BoundedWork,
): Promise<boolean> {
  switch ((await matchesAny(globs, path.toString(), work)) ? 'deny' : files.rules.accessTo(path)) {
    case 'write':
      return false;
    case 'read':
      return (await mayUse(path, constants.W_OK)) || mayMake(path);
    case 'deny':
      return (await mayUse(path, constants.R_OK)) || mayMake(path);
  }
}

async function matchesAny(globs: readonly CompiledGlob[], path: string, work: BoundedWork): Promise<boolean> {
  for (const glob of globs) {
    if (glob.matches(path)) return true;
    await work.goOn(countSteps(glob.size * path.length));
  }
  return false;
}

async function mayMake(path: Buffer): Promise<boolean> {
  return !(await mayUse(path, constants.F_OK)) && mayUse(parentPath(path), constants.W_OK);
}

async function mayUse(path: Buffer, mode: number): Promise<boolean> {
  try {
    await access(path, mode);
    return true;
  } catch {
    return false;
  }
}
