import { isUtf8 } from 'node:buffer';
import type { Stats } from 'node:fs';
import { lstat, readdir, readlink } from 'node:fs/promises';
import { usageError } from '../usage.js';
import {
  type CopyPlan,
  joinBytes,
  type PlannedDirectory,
  type PlannedFile,
  type PlannedLink,
} from './fs-plan.js';

const PERMISSION_BITS = 0o7777;

/** Looks at a file, a link or a tree on this machine. Errors are those of `node:fs`. */
export async function planLocal(root: Buffer, signal: AbortSignal | undefined): Promise<CopyPlan> {
  const directories: PlannedDirectory[] = [];
  const files: PlannedFile[] = [];
  const links: PlannedLink[] = [];
  const skipped: string[] = [];
  const unseen: Buffer[] = [Buffer.alloc(0)];
  for (let relativePath = unseen.pop(); relativePath !== undefined; relativePath = unseen.pop()) {
    signal?.throwIfAborted();
    const path = joinBytes(root, relativePath);
    const stats: Stats = await lstat(path);
    const mode = stats.mode & PERMISSION_BITS;
    if (stats.isDirectory()) {
      directories.push({ relativePath, mode });
      for (const name of await readdir(path, { encoding: 'buffer' }))
        unseen.push(joinBytes(relativePath, name));
    } else if (stats.isFile()) files.push({ relativePath, mode, size: stats.size });
    else if (stats.isSymbolicLink()) links.push({ relativePath, target: await readTarget(path) });
    else if (relativePath.length === 0) throw usageError(`neither file, directory nor link: ${String(path)}`);
    else skipped.push(String(path));
  }
  return { directories, files, links, skipped };
}

async function readTarget(path: Buffer): Promise<string> {
  const target = await readlink(path, { encoding: 'buffer' });
  if (!isUtf8(target))
    throw usageError(`the link says what cannot be sent, because it is no UTF-8: ${String(path)}`);
  return target.toString();
}
