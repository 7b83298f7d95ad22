import { constants, type Stats } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, opendir, rmdir, unlink } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { throwIfWanting } from '../../fs/file-error.js';
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
  /** Call it when no mount on it is left. The last one takes it away. Never rejects. */
  release(): Promise<void>;
}

/** Sticky and not writable by its owner: nothing that anybody makes by accident looks like that. */
const DIRECTORY_MODE = 0o1555;
const FILE_MODE = 0o1444;
const TELLING_BITS = 0o1200;
const TELLING_VALUE = 0o1000;

/** Tries to get hold of one that others take away and make at the same time, and the pause between them. */
const MAX_ATTEMPTS = 50;
const ATTEMPT_PAUSE_MS = 2;

/** Whether something with this mode can have been put there to be mounted on. */
export function mayBeMountTarget(mode: number): boolean {
  return (mode & TELLING_BITS) === TELLING_VALUE;
}

/** Whether what is at a path was put there to be mounted on; absent when nothing is there. Throws `OsError`. */
export async function isMountTarget(path: Buffer): Promise<boolean | undefined> {
  try {
    const stats = await lstat(path);
    if (!mayBeMountTarget(stats.mode)) return false;
    return stats.isDirectory() ? await isEmpty(path) : stats.isFile() && stats.size === 0;
  } catch (error) {
    throwIfWanting(error);
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? undefined : false;
  }
}

async function isEmpty(path: Buffer): Promise<boolean> {
  const directory = await opendir(path, { bufferSize: 1 });
  try {
    return (await directory.read()) === null;
  } finally {
    await directory.close();
  }
}

/**
 * Puts a mount target at a path where nothing is, or joins those who use the one that is there. Nothing when this user
 * cannot make anything there, so that no program of his can. Throws {@link PolicyError} when something else came to be
 * there meanwhile, and `OsError` when it cannot be made just now, for want of descriptors or space.
 */
export async function holdMountTarget(path: Buffer, kind: TargetKind): Promise<MountTarget | undefined> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const made = await create(path, kind);
    if (made === 'impossible') return undefined;
    if (made === 'taken' && (await isMountTarget(path)) === false) break;
    const file = await openLocked(path);
    if (file !== undefined) return { release: () => release(path, file) };
    await sleep(ATTEMPT_PAUSE_MS);
  }
  throw unenforceable(`${path.toString()} is being changed by somebody else`);
}

async function create(path: Buffer, kind: TargetKind): Promise<'made' | 'taken' | 'impossible'> {
  try {
    if (kind === 'directory') await mkdir(path, { mode: DIRECTORY_MODE });
    else
      await (await open(path, constants.O_CREAT | constants.O_EXCL | constants.O_RDONLY, FILE_MODE)).close();
    return 'made';
  } catch (error) {
    throwIfWanting(error);
    return (error as NodeJS.ErrnoException).code === 'EEXIST' ? 'taken' : 'impossible';
  }
}

/** Opens and locks what is at a path; nothing when somebody is taking it away. */
async function openLocked(path: Buffer): Promise<FileHandle | undefined> {
  let file: FileHandle | undefined;
  let isHeld = false;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    isHeld = tryLock(file.fd, 'shared') && isSame(await file.stat(), await lstat(path));
  } catch (error) {
    throwIfWanting(error);
    // It is gone, or not ours to open.
  } finally {
    if (!isHeld) await file?.close();
  }
  return isHeld ? file : undefined;
}

function isSame(a: Stats, b: Stats): boolean {
  return a.dev === b.dev && a.ino === b.ino;
}

async function release(path: Buffer, file: FileHandle): Promise<void> {
  try {
    if (!tryLock(file.fd, 'exclusive')) return;
    const stats = await file.stat();
    if (!isSame(stats, await lstat(path)) || !(await isMountTarget(path))) return;
    if (stats.isDirectory()) await rmdir(path);
    else await unlink(path);
  } catch {
    // Somebody outside of the sandbox has put it to use, or moved it.
  } finally {
    await file.close().catch(() => {});
  }
}
