import {
  closeSync,
  constants,
  mkdirSync,
  openSync,
  rmdirSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import {
  listSubdirectories,
  readSystemFile,
  readSystemLine,
  saysGone,
  unlessHidden,
  writeSystemFile,
} from '../system-files.js';

/**
 * Makes a group of threads, in which a process need not be as a whole: only then can one thread of this process enter
 * it. That also spares the system a lock that moving a whole process takes, which can last for 10 ms.
 */
export function createThreadedGroup(path: string): void {
  mkdirSync(path);
  try {
    writeFileSync(join(path, 'cgroup.type'), 'threaded');
  } catch (error) {
    rmdirSync(path);
    throw error;
  }
}

/** A way into a group that stays open: entering by it needs no descriptor, of which there may be none left. */
export function openGroup(path: string): number {
  return openSync(join(path, 'cgroup.threads'), constants.O_WRONLY);
}

/** Moves the calling thread, and no other one of this process. What it forks from here on is born in the group. */
export function moveThisThread(openedGroup: number): void {
  writeSync(openedGroup, '0');
}

/** The same by path. */
export function enterGroup(path: string): void {
  const group = openGroup(path);
  try {
    moveThisThread(group);
  } finally {
    closeSync(group);
  }
}

/** Every thread in the group and in those below it. A process that has ended has none, reaped or not. */
export function readThreads(path: string): number[] {
  const lines = (readSystemFile(join(path, 'cgroup.threads')) ?? '').split('\n');
  const threads = lines.filter((line) => line !== '').map(Number);
  // A program may make groups of its own in the one that it is in.
  return [...threads, ...listGroups(path).flatMap(readThreads)];
}

/** Whether anybody is in the group or below it. Throws when that cannot be told. */
export function isPopulated(path: string): boolean {
  return readEvents(path).includes('populated 1');
}

/** Longest `cgroup.events` that is read, in bytes; it has two short lines. */
const MAX_EVENTS_BYTES = 256;
const eventsBuffer = Buffer.alloc(MAX_EVENTS_BYTES);

/** Whether a group is as it was made: nobody in it, no groups below it, not frozen. */
export function isUntouched(path: string): boolean {
  try {
    const events = readEvents(path);
    if (!events.includes('populated 0') || events.includes('frozen 1')) return false;
    return !hasGroupsBelow(path);
  } catch {
    // It was removed, or cannot be looked into.
    return false;
  }
}

/** Nothing when the group is gone. */
function readEvents(path: string): string {
  return readSystemLine(join(path, 'cgroup.events'), eventsBuffer) ?? '';
}

/**
 * Lets nobody in the group or below it run, or everybody again; a kill reaches them all the same. Throws when nobody can
 * say whether it did.
 */
export function setFrozen(path: string, frozen: boolean): void {
  // A kernel before 5.2 has no such file: then those who fork are looked for again and again.
  unlessHidden(() => writeSystemFile(join(path, 'cgroup.freeze'), frozen ? '1' : '0'));
}

/** Removes a group with those below it, if nobody is in any of them; false when somebody is, or nobody can say. */
export function removeGroup(path: string): boolean {
  if (removeDirectory(path)) return true;
  try {
    if (isPopulated(path)) return false;
    for (const below of listGroups(path)) removeGroup(below);
  } catch {
    return false;
  }
  return removeDirectory(path);
}

function removeDirectory(path: string): boolean {
  try {
    rmdirSync(path);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}

/** Directories that a directory without any below it counts as: itself, and its name. */
const LINKS_WITHOUT_CHILDREN = 2;

function hasGroupsBelow(path: string): boolean {
  return statSync(path).nlink !== LINKS_WITHOUT_CHILDREN;
}

/** The groups directly below one; none when it is gone. Throws when it cannot look. */
export function listGroups(path: string): string[] {
  try {
    // Most have none, and a list of all their files takes five times as long.
    if (!hasGroupsBelow(path)) return [];
  } catch (error) {
    if (saysGone(error)) return [];
    throw error;
  }
  return (listSubdirectories(path) ?? []).map((name) => join(path, name));
}
