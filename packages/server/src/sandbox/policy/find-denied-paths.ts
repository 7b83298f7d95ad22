import type { Dirent } from 'node:fs';
import { type Clock, systemClock } from '../../clock.js';
import { EACCES, ELOOP, ENOENT, ENOTDIR, EPERM, FileError, isOsError } from '../../fs/file-error.js';
import { listDirectory } from '../../fs/list-directory.js';
import { joinPath } from '../../fs/native-path.js';
import { LoopTurn } from '../../loop-turn.js';
import { type CompiledGlob, compileGlob, countSteps, type GlobState } from './glob.js';
import type { FilePolicy } from './policy.js';
import { type PolicyError, unenforceable } from './policy-error.js';

/** Directory entries that are looked at for the patterns of one policy; more means that they cannot be kept. */
export const MAX_SCANNED_ENTRIES = 200_000;
/** Paths that the patterns of one policy may match. */
export const MAX_DENIED_PATHS = 1_024;
/**
 * Characters of all patterns of one policy together, without the directories that they start at. Each may be at many of
 * its places at once, on every level of a tree.
 */
export const MAX_PATTERNS_CHARACTERS = 65_536;
/** Longest that looking up the patterns of one policy may take, in milliseconds. */
export const MAX_SCAN_MS = 10_000;

/** What a directory that is gone, or is none, or is hidden from this user, answers. */
const NOTHING_TO_SEE = [ENOENT, ENOTDIR, ELOOP, EACCES, EPERM] as const;

/**
 * Finds what exists now of the paths that a policy's patterns deny. Nothing below a match is listed, and nothing in which
 * no pattern can match. Links are matched by their own path and not followed. Rejects with {@link PolicyError} when there
 * is too much to look at, or something cannot be looked at.
 */
export async function findDeniedPaths(
  { denyGlobs, globScanMaxDepth }: FilePolicy,
  clock: Clock = systemClock,
): Promise<Buffer[]> {
  if (denyGlobs.length === 0) return [];
  const scan = new Scan(globScanMaxDepth ?? Number.POSITIVE_INFINITY);
  return new Promise((resolve, reject) => {
    // A file system may never answer, so that the time is not only looked at between two answers.
    const timer = clock.after(MAX_SCAN_MS, () => {
      scan.stop();
      reject(tooMuch(`looking up the patterns to deny takes longer than ${MAX_SCAN_MS} ms`));
    });
    void scan
      .look(denyGlobs)
      .then(resolve, reject)
      .finally(() => timer.cancel());
  });
}

/** A pattern on its way down the tree. */
interface Descent {
  readonly glob: CompiledGlob;
  readonly state: GlobState;
}

/** A directory that is to be listed. */
interface Place {
  readonly path: Buffer;
  /** How many directories deep, from the base of its patterns. */
  readonly depth: number;
  /** The patterns as they are in the directory above, and the name in there; none for a base. */
  readonly above: readonly Descent[];
  readonly name: string | undefined;
}

class Scan {
  readonly #found: Buffer[] = [];
  readonly #turn = new LoopTurn();
  #looked = 0;
  #isStopped = false;

  constructor(private readonly maxDepth: number) {}

  stop(): void {
    this.#isStopped = true;
  }

  async look(patterns: readonly string[]): Promise<Buffer[]> {
    const byBase = new Map<string, Descent[]>();
    let characters = 0;
    for (const pattern of patterns) {
      const glob = compileGlob(pattern);
      characters += glob.size;
      if (characters > MAX_PATTERNS_CHARACTERS)
        throw unenforceable(
          `the patterns to deny have more than ${MAX_PATTERNS_CHARACTERS} characters; use fewer or shorter ones`,
        );
      const descents = byBase.get(glob.base) ?? [];
      byBase.set(glob.base, descents);
      descents.push({ glob, state: glob.start });
      if (this.#turn.isOverAfter(countSteps(pattern.length))) await this.#turn.pause();
    }
    for (const [base, above] of byBase)
      await this.#lookBelow({ path: Buffer.from(base), depth: 1, above, name: undefined });
    return this.#found;
  }

  async #lookBelow(base: Place): Promise<void> {
    // Those below a directory are looked at before those beside it, which keeps few patterns on their way. None is open
    // meanwhile.
    const places = [base];
    for (let place = places.pop(); place !== undefined; place = places.pop()) {
      if (place.depth > this.maxDepth) continue;
      const { path, depth, above, name } = place;
      const descents = name === undefined ? above : await this.#descend(above, name);
      if (descents === 'matched') continue;
      for await (const entry of list(path)) {
        if (this.#isStopped) return;
        if (++this.#looked > MAX_SCANNED_ENTRIES)
          throw tooMuch(`the patterns to deny reach more than ${MAX_SCANNED_ENTRIES} entries`);
        const below = joinPath(path, entry.name);
        const text = entry.name.toString();
        const next = await this.#descend(descents, text);
        if (next === 'matched') this.#add(below);
        else if (next.length > 0 && entry.isDirectory())
          places.push({ path: below, depth: depth + 1, above: descents, name: text });
      }
    }
  }

  /** The patterns that may still match below a name; or that one matches the name itself. */
  async #descend(above: readonly Descent[], name: string): Promise<Descent[] | 'matched'> {
    const next: Descent[] = [];
    for (const { glob, state } of above) {
      const stepped = glob.step(state, name);
      if (glob.isMatch(stepped)) return 'matched';
      if (stepped.length > 0) next.push({ glob, state: stepped });
      if (this.#turn.isOverAfter(countSteps(glob.size * name.length))) await this.#turn.pause();
      if (this.#isStopped) return [];
    }
    return next;
  }

  #add(path: Buffer): void {
    if (this.#found.length >= MAX_DENIED_PATHS)
      throw tooMuch(`the patterns to deny match more than ${MAX_DENIED_PATHS} paths`);
    this.#found.push(path);
  }
}

/** What cannot be seen here cannot be read there either. What cannot be listed for want of something else can. */
async function* list(directory: Buffer): AsyncGenerator<Dirent<Buffer>, void> {
  try {
    yield* listDirectory(directory);
  } catch (error) {
    if (isOsError(error, ...NOTHING_TO_SEE) || error instanceof FileError) return;
    throw unenforceable(
      `the patterns to deny cannot be looked up in ${directory.toString()}: ${(error as Error).message}`,
    );
  }
}

function tooMuch(reason: string): PolicyError {
  return unenforceable(`${reason}; glob_scan_max_depth limits how deep they are looked up`);
}
