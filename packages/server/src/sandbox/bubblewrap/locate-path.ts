import { lstatSync, readlinkSync, type Stats } from 'node:fs';
import { joinPath, parentPath, splitPath } from '../../fs/native-path.js';

/** A symbolic link on the way to a path. */
export interface CrossedLink {
  /** Where it is; no part of this is a link. */
  readonly path: Buffer;
  readonly target: Buffer;
}

/** Where a path leads on this host. */
export interface Location {
  /** The path without links, as far as it exists, and what is left of it behind that. */
  readonly path: Buffer;
  /** What is there. */
  readonly kind: 'directory' | 'file' | 'missing';
  /** Where the first part that does not exist would be; only of what is missing. */
  readonly firstMissing?: Buffer;
  readonly links: readonly CrossedLink[];
}

/** Links that one path may lead through, as many as the kernel follows. */
const MAX_LINKS = 40;
const ROOT = Buffer.from('/');

/** Follows a path as the kernel does. What cannot be looked at counts as missing. */
export function locatePath(path: Uint8Array): Location {
  const links: CrossedLink[] = [];
  let pending = splitPath(path);
  let here: Buffer = ROOT;
  let kind: Location['kind'] = 'directory';
  while (pending.length > 0) {
    const [name = Buffer.alloc(0), ...rest] = pending;
    const next = joinPath(here, name);
    const stats: Stats | undefined = kind === 'directory' ? look(next) : undefined;
    if (stats === undefined || links.length > MAX_LINKS)
      return { path: rest.reduce(joinPath, next), kind: 'missing', firstMissing: next, links };
    if (stats.isSymbolicLink()) {
      const target = readlinkSync(next, 'buffer');
      links.push({ path: next, target });
      // From the beginning, because `..` in a link counts from where the link is.
      const start = target[0] === ROOT[0] ? target : joinPath(parentPath(next), target);
      pending = [...splitPath(start), ...rest];
      here = ROOT;
      continue;
    }
    kind = stats.isDirectory() ? 'directory' : 'file';
    here = next;
    pending = rest;
  }
  return { path: here, kind, links };
}

function look(path: Buffer): Stats | undefined {
  try {
    return lstatSync(path);
  } catch {
    return undefined;
  }
}
