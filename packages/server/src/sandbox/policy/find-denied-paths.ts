import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { type CompiledGlob, compileGlob } from './glob.js';
import type { FilePolicy } from './policy.js';
import { type PolicyError, unenforceable } from './policy-error.js';

/** Directory entries that are looked at for the patterns of one policy; more means that they cannot be kept. */
export const MAX_SCANNED_ENTRIES = 200_000;
/** Paths that the patterns of one policy may match. */
export const MAX_DENIED_PATHS = 1_024;

/**
 * Finds what exists now of the paths that a policy's patterns deny. Nothing below a match is listed. Links are matched by
 * their own path and not followed. Throws {@link PolicyError} when there is too much to look at.
 */
export async function findDeniedPaths({ denyGlobs, globScanMaxDepth }: FilePolicy): Promise<Buffer[]> {
  const scan = new Scan(globScanMaxDepth ?? Number.POSITIVE_INFINITY);
  for (const pattern of denyGlobs) await scan.look(pattern);
  return scan.found;
}

class Scan {
  readonly found: Buffer[] = [];
  #looked = 0;

  constructor(private readonly maxDepth: number) {}

  async look(pattern: string): Promise<void> {
    const glob = compileGlob(pattern);
    await this.#lookInto(Buffer.from(glob.base), glob, 1);
  }

  async #lookInto(directory: Buffer, glob: CompiledGlob, depth: number): Promise<void> {
    if (depth > this.maxDepth) return;
    for (const entry of await list(directory)) {
      if (++this.#looked > MAX_SCANNED_ENTRIES)
        throw tooMuch(`the patterns to deny reach more than ${MAX_SCANNED_ENTRIES} entries`);
      const path = Buffer.concat([directory, Buffer.from(directory.equals(ROOT) ? '' : '/'), entry.name]);
      if (glob.matches(path.toString())) this.#add(path);
      else if (entry.isDirectory()) await this.#lookInto(path, glob, depth + 1);
    }
  }

  #add(path: Buffer): void {
    if (this.found.length >= MAX_DENIED_PATHS)
      throw tooMuch(`the patterns to deny match more than ${MAX_DENIED_PATHS} paths`);
    this.found.push(path);
  }
}

const ROOT = Buffer.from('/');

/** What cannot be listed here cannot be read there either. */
async function list(directory: Buffer): Promise<Dirent<Buffer>[]> {
  try {
    return await readdir(directory, { encoding: 'buffer', withFileTypes: true });
  } catch {
    return [];
  }
}

function tooMuch(reason: string): PolicyError {
  return unenforceable(`${reason}; glob_scan_max_depth limits how deep they are looked up`);
}
