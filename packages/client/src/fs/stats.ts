import type { FsGetMetadataResult } from '@exec-server/protocol';

/** Type bits of a mode, as `node:fs` has them. */
const TYPE_BITS = { file: 0o100000, directory: 0o040000, symlink: 0o120000, other: 0 } as const;

/** What something in a file system is. `other` is a socket, a FIFO or a device. */
export type FileType = 'file' | 'directory' | 'symlink' | 'other';

/** What is known of a file; the part of `Stats` of `node:fs` that the wire can tell. */
export class Stats {
  readonly type: FileType;
  /** Bytes. */
  readonly size: number;
  /** Type and permission bits; absent where the server does not tell them. */
  readonly mode: number | undefined;
  /** When the content changed last, in milliseconds since 1970. */
  readonly mtimeMs: number;
  /** When it was created, in milliseconds since 1970; absent where that is not known. */
  readonly birthtimeMs: number | undefined;

  constructor(type: FileType, { size, mode, modifiedAtMs, createdAtMs }: FsGetMetadataResult) {
    this.type = type;
    this.size = size;
    this.mode = mode === undefined ? undefined : TYPE_BITS[type] | mode;
    this.mtimeMs = modifiedAtMs;
    this.birthtimeMs = createdAtMs === 0 ? undefined : createdAtMs;
  }

  get mtime(): Date {
    return new Date(this.mtimeMs);
  }

  get birthtime(): Date | undefined {
    return this.birthtimeMs === undefined ? undefined : new Date(this.birthtimeMs);
  }

  isFile(): boolean {
    return this.type === 'file';
  }

  isDirectory(): boolean {
    return this.type === 'directory';
  }

  isSymbolicLink(): boolean {
    return this.type === 'symlink';
  }
}

/** The type of what a path leads to; links on the way were followed. */
export function typeOfTarget({
  isFile,
  isDirectory,
}: Pick<FsGetMetadataResult, 'isFile' | 'isDirectory'>): FileType {
  if (isDirectory) return 'directory';
  return isFile ? 'file' : 'other';
}
