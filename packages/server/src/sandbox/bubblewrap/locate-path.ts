import { constants } from 'node:fs';
import { lstat, readlink } from 'node:fs/promises';
import { findCachedEntry } from '../../fs/cached-entry.js';
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
  /** Type and permission bits of what is there. */
  readonly mode?: number;
  /** Where the first part that does not exist would be; only of what is missing. */
  readonly firstMissing?: Buffer;
  readonly links: readonly CrossedLink[];
}

/** Links that one path may lead through, as many as the kernel follows. */
const MAX_LINKS = 40;
const ROOT = Buffer.from('/');

type Found =
  | { readonly kind: 'directory' | 'file'; readonly mode: number }
  | { readonly kind: 'link'; readonly mode: number; readonly target: Buffer };

/** What is at a path, or nothing. */
type Looked = Found | undefined;

/** Follows paths as the kernel does, for one purpose: what several of them lead through is looked at once. */
export class PathLocator {
  readonly #found = new Map<string, Looked | Promise<Looked>>();

  /** What cannot be looked at counts as missing. */
  async locate(path: Uint8Array): Promise<Location> {
    const links: CrossedLink[] = [];
    let pending = splitPath(path);
    let at = 0;
    let here: Buffer = ROOT;
    let kind: Location['kind'] = 'directory';
    let mode: number | undefined;
    while (at < pending.length) {
      const next = joinPath(here, pending[at++]!);
      let found: Looked | Promise<Looked> = kind === 'directory' ? this.look(next) : undefined;
      if (found instanceof Promise) found = await found;
      if (found === undefined || links.length > MAX_LINKS)
        return { path: pending.slice(at).reduce(joinPath, next), kind: 'missing', firstMissing: next, links };
      if (found.kind === 'link') {
        const { target } = found;
        links.push({ path: next, target });
        // From the beginning, because `..` in a link counts from where the link is.
        const start = target[0] === ROOT[0] ? target : joinPath(parentPath(next), target);
        pending = [...splitPath(start), ...pending.slice(at)];
        at = 0;
        here = ROOT;
        kind = 'directory';
        continue;
      }
      ({ kind, mode } = found);
      here = next;
    }
    return { path: here, kind, links, ...(mode !== undefined && { mode }) };
  }

  /** What is at a path that leads through no link; nothing when it is missing. */
  look(path: Buffer): Looked | Promise<Looked> {
    const key = path.toString('latin1');
    if (this.#found.has(key)) return this.#found.get(key);
    const cached = lookAtOnce(path);
    if (cached !== undefined) {
      this.#found.set(key, cached);
      return cached;
    }
    const looking = look(path).then((found) => {
      this.#found.set(key, found);
      return found;
    });
    this.#found.set(key, looking);
    return looking;
  }
}

/** What the kernel has at hand. Links are read properly, and so is what is not there. */
function lookAtOnce(path: Buffer): Looked {
  const stats = findCachedEntry(path);
  if (stats === undefined) return undefined;
  const { mode } = stats;
  const type = mode & constants.S_IFMT;
  if (type === constants.S_IFLNK) return undefined;
  return { kind: type === constants.S_IFDIR ? 'directory' : 'file', mode };
}

/** Links of other users' processes in `/proc` can be seen and not read: they lead nowhere, for the program as for us. */
async function look(path: Buffer): Promise<Looked> {
  try {
    const stats = await lstat(path);
    const { mode } = stats;
    if (stats.isSymbolicLink()) return { kind: 'link', mode, target: await readlink(path, 'buffer') };
    return { kind: stats.isDirectory() ? 'directory' : 'file', mode };
  } catch {
    return undefined;
  }
}
