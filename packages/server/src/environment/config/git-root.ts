import { realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { readTextFile } from '../text-file.js';

/** Longest of the one-line files that link a worktree to its repository, in bytes. */
const MAX_LINK_FILE_BYTES = 16 * 1024;

/** Whether a `.git` is one: a directory with a HEAD, or the file of a worktree or submodule. */
export async function isGitEntry(path: string): Promise<boolean> {
  const stats = await stat(path).catch(() => undefined);
  if (stats === undefined) return false;
  if (!stats.isDirectory()) return stats.isFile();
  return (await stat(join(path, 'HEAD')).catch(() => undefined)) !== undefined;
}

/**
 * The main checkout of the repository that a directory belongs to; for a linked worktree that is somewhere else.
 * Nothing when there is no repository, or its links do not confirm each other.
 */
export async function findMainCheckout(directory: string): Promise<string | undefined> {
  for (const ancestor of withAncestors(directory)) {
    const entry = join(ancestor, '.git');
    if (!(await isGitEntry(entry))) continue;
    return (await stat(entry)).isDirectory() ? ancestor : followWorktree(entry);
  }
  return undefined;
}

/** A directory and everything above it, nearest first. */
export function* withAncestors(directory: string): Generator<string> {
  for (let current = directory; ; ) {
    yield current;
    const parent = dirname(current);
    if (parent === current) return;
    current = parent;
  }
}

/**
 * A worktree's `.git` names a directory of the repository, and that directory must name the `.git` in return: otherwise
 * anybody could write a file that claims to belong to a repository that is trusted.
 */
async function followWorktree(gitFile: string): Promise<string | undefined> {
  try {
    const link = /^gitdir:\s*(.+)$/m.exec(await readLink(gitFile))?.[1]?.trim();
    if (link === undefined) return undefined;
    const gitDirectory = resolve(dirname(gitFile), link);
    const back = resolve(gitDirectory, (await readLink(join(gitDirectory, 'gitdir'))).trim());
    if ((await realpath(back)) !== (await realpath(gitFile))) return undefined;
    const common = resolve(gitDirectory, (await readLink(join(gitDirectory, 'commondir'))).trim());
    return basename(common) === '.git' ? dirname(common) : undefined;
  } catch {
    return undefined;
  }
}

function readLink(path: string): Promise<string> {
  return readTextFile(path, MAX_LINK_FILE_BYTES);
}
