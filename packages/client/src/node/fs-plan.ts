/** A directory of a tree that is copied. Its parent comes before it. */
export interface PlannedDirectory {
  /** From the root of the tree on, as bytes; empty for the root itself. */
  readonly relativePath: Buffer;
  /** Permission bits; absent where they are not known. */
  readonly mode: number | undefined;
}

export interface PlannedFile extends PlannedDirectory {
  /** Size when it was looked at, in bytes. */
  readonly size: number;
}

export interface PlannedLink {
  readonly relativePath: Buffer;
  /** What the link says. */
  readonly target: string;
}

/** Everything that is to be copied, looked at before the first byte is. */
export interface CopyPlan {
  readonly directories: readonly PlannedDirectory[];
  readonly files: readonly PlannedFile[];
  readonly links: readonly PlannedLink[];
  /** Paths of sockets, FIFOs and devices, which are not copied. */
  readonly skipped: readonly string[];
}

const SLASH = Buffer.from('/');

/** The path of something in a tree, given where the tree is. */
export function joinBytes(root: Buffer, relativePath: Buffer): Buffer {
  if (relativePath.length === 0) return root;
  if (root.length === 0) return relativePath;
  return Buffer.concat(root.at(-1) === SLASH[0] ? [root, relativePath] : [root, SLASH, relativePath]);
}

/** Directories by their depth, the root first; what is in one level can be made at once. */
export function splitLevels(directories: readonly PlannedDirectory[]): PlannedDirectory[][] {
  const levels: PlannedDirectory[][] = [];
  for (const directory of directories) {
    const { relativePath } = directory;
    const depth = relativePath.length === 0 ? 0 : 1 + countSlashes(relativePath);
    levels[depth] ??= [];
    levels[depth].push(directory);
  }
  return levels.filter((level) => level !== undefined);
}

function countSlashes(path: Buffer): number {
  return path.reduce((count, byte) => (byte === SLASH[0] ? count + 1 : count), 0);
}
