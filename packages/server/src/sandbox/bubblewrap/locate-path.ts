import { lstatSync, readlinkSync } from 'node:fs';
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
    const found: Found | undefined = kind === 'directory' ? look(next) : undefined;
    if (found === undefined || links.length > MAX_LINKS)
      return { path: rest.reduce(joinPath, next), kind: 'missing', firstMissing: next, links };
    if (found.kind === 'link') {
      const { target } = found;
      links.push({ path: next, target });
      // From the beginning, because `..` in a link counts from where the link is.
      const start = target[0] === ROOT[0] ? target : joinPath(parentPath(next), target);
      pending = [...splitPath(start), ...rest];
      here = ROOT;
      continue;
    }
    kind = found.kind;
    here = next;
    pending = rest;
  }
  return { path: here, kind, links };
}

type Found = { readonly kind: 'directory' | 'file' } | { readonly kind: 'link'; readonly target: Buffer };

/** Links of other users' processes in `/proc` can be seen and not read: they lead nowhere, for the program as for us. */
function look(path: Buffer): Found | undefined {
  try {
    const stats = lstatSync(path);
    if (stats.isSymbolicLink()) return { kind: 'link', target: readlinkSync(path, 'buffer') };
    return { kind: stats.isDirectory() ? 'directory' : 'file' };
  } catch {
    return undefined;
  }
}
