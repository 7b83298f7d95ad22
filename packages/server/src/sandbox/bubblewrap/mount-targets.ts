import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmdirSync,
  type Stats,
  unlinkSync,
} from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { tryLock } from '../../native/file-lock.js';
import { unenforceable } from '../policy/policy-error.js';

/*
 * A mount needs something to be mounted on. To keep a program from making a path that does not exist yet, an empty
 * directory or file is put there, and taken away when nobody needs it any more. Whoever takes it away takes away the
 * mounts on it as well, also those of others, so that everybody who uses one holds a shared lock on it: who gets it
 * exclusively is the last. Its mode tells what it is, also to other servers and after a crash.
 */

/** What is put in place of something that does not exist. */
export type TargetKind = 'directory' | 'file';

/** A mount target in use. */
export interface MountTarget {
  /** Call it when no mount on it is left. The last one takes it away. Never throws. */
  release(): void;
}

/** Sticky and not writable by its owner: nothing that anybody makes by accident looks like that. */
const DIRECTORY_MODE = 0o1555;
const FILE_MODE = 0o1444;
const TELLING_BITS = 0o1200;
const TELLING_VALUE = 0o1000;

/** Tries to get hold of one that others take away and make at the same time, and the pause between them. */
const MAX_ATTEMPTS = 50;
const ATTEMPT_PAUSE_MS = 2;

/** Whether what is at a path was put there to be mounted on. */
export function isMountTarget(path: Buffer): boolean {
  try {
    const stats = lstatSync(path);
    if ((stats.mode & TELLING_BITS) !== TELLING_VALUE) return false;
    return stats.isDirectory() ? readdirSync(path).length === 0 : stats.isFile() && stats.size === 0;
  } catch {
    return false;
  }
}

/**
 * Puts a mount target at a path where nothing is, or joins those who use the one that is there. Nothing when this user
 * cannot make anything there, so that no program of his can. Throws {@link PolicyError} when something else came to be
 * there meanwhile.
 */
export async function holdMountTarget(path: Buffer, kind: TargetKind): Promise<MountTarget | undefined> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const made = create(path, kind);
    if (made === 'impossible') return undefined;
    if (made === 'taken' && !isMountTarget(path)) break;
    const fd = openLocked(path);
    if (fd !== undefined) return { release: () => release(path, fd) };
    await sleep(ATTEMPT_PAUSE_MS);
  }
  throw unenforceable(`${path.toString()} is being changed by somebody else`);
}

function create(path: Buffer, kind: TargetKind): 'made' | 'taken' | 'impossible' {
  try {
    if (kind === 'directory') mkdirSync(path, { mode: DIRECTORY_MODE });
    else closeSync(openSync(path, constants.O_CREAT | constants.O_EXCL | constants.O_RDONLY, FILE_MODE));
    return 'made';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EEXIST' ? 'taken' : 'impossible';
  }
}

/** Opens and locks what is at a path; nothing when somebody is taking it away. */
function openLocked(path: Buffer): number | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    if (tryLock(fd, 'shared') && isSame(fstatSync(fd), lstatSync(path))) return fd;
  } catch {
    // It is gone, or not ours to open.
  }
  if (fd !== undefined) closeSync(fd);
  return undefined;
}

function isSame(a: Stats, b: Stats): boolean {
  return a.dev === b.dev && a.ino === b.ino;
}

function release(path: Buffer, fd: number): void {
  try {
    if (!tryLock(fd, 'exclusive') || !isSame(fstatSync(fd), lstatSync(path)) || !isMountTarget(path)) return;
    if (fstatSync(fd).isDirectory()) rmdirSync(path);
    else unlinkSync(path);
  } catch {
    // Somebody outside of the sandbox has put it to use, or moved it.
  } finally {
    closeSync(fd);
  }
}
