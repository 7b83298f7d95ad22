import type { Dirent, WalkEntry, WalkOptions } from './directory.js';
import type { FileData } from './file-data.js';
import type { ReadFileOptions } from './read-file.js';
import type { ReadStreamOptions } from './read-stream.js';
import type { RemotePath } from './remote-path.js';
import type { Stats } from './stats.js';
import type { FileWatch, WatchOptions } from './watch.js';
import type { WriteFileOptions, WriteStreamOptions } from './write-file.js';

/** How text is stored: there is no other way here. */
export type TextEncoding = 'utf8' | 'utf-8';

/** What every file operation takes. */
export interface FileCallOptions {
  /** Gives up waiting; what was already asked for may still be done. */
  readonly signal?: AbortSignal;
}

/** Options of `readdir`. */
export interface ReaddirOptions extends FileCallOptions {
  /** Answer with `Dirent`s instead of names. @default false */
  readonly withFileTypes?: boolean;
  /** Everything below, too: names become paths relative to the directory. Links are not followed. @default false */
  readonly recursive?: boolean;
}

/** Options of `mkdir`. */
export interface MkdirOptions extends FileCallOptions {
  /** Make its parents, too; a directory that is already there is fine. @default false */
  readonly recursive?: boolean;
}

/** Options of `rm`. */
export interface RmOptions extends FileCallOptions {
  /** Remove directories with what is in them. @default false */
  readonly recursive?: boolean;
  /** A path where nothing is, is fine. @default false */
  readonly force?: boolean;
}

/** Options of `cp`. */
export interface CpOptions extends FileCallOptions {
  /** Needed for directories. @default false */
  readonly recursive?: boolean;
}

/**
 * The files of the server's host, in the shape of `node:fs/promises`. Paths are absolute. What the server refuses is a
 * `FileSystemError` with `errno`, `operation` and `path`; options that an operation does not have are `usage` errors. The
 * functions need no `this`.
 */
export interface FileSystem {
  /** The whole file, as bytes or as text. Files of any size; large ones are better streamed. */
  readonly readFile: {
    (
      path: RemotePath,
      options: TextEncoding | (ReadFileOptions & { readonly encoding: TextEncoding }),
    ): Promise<string>;
    (path: RemotePath, options?: ReadFileOptions & { readonly encoding?: null }): Promise<Uint8Array>;
  };
  /** Creates a file or replaces its content. Streams and iterables of any length go with back-pressure. */
  readonly writeFile: (
    path: RemotePath,
    data: FileData,
    options?: WriteFileOptions | TextEncoding,
  ) => Promise<void>;
  /** Streams a file, or a part of it. Its errors come with the first read. */
  readonly createReadStream: (path: RemotePath, options?: ReadStreamOptions) => ReadableStream<Uint8Array>;
  /** A stream into a file, with back-pressure. The file is complete when `close` resolves. */
  readonly createWriteStream: (
    path: RemotePath,
    options?: WriteStreamOptions,
  ) => WritableStream<string | Uint8Array>;

  /** Names in a directory, sorted. */
  readonly readdir: {
    (path: RemotePath, options: ReaddirOptions & { readonly withFileTypes: true }): Promise<Dirent[]>;
    (path: RemotePath, options?: ReaddirOptions & { readonly withFileTypes?: false }): Promise<string[]>;
  };
  /** Everything below a directory, level by level, as it is found. Links are not followed. */
  readonly walk: (path: RemotePath, options?: WalkOptions) => AsyncIterableIterator<WalkEntry>;
  readonly mkdir: (path: RemotePath, options?: MkdirOptions) => Promise<void>;

  /** Removes a file or a link, and a directory with `recursive`. */
  readonly rm: (path: RemotePath, options?: RmOptions) => Promise<void>;
  /** Removes an empty directory. */
  readonly rmdir: (path: RemotePath, options?: FileCallOptions) => Promise<void>;
  /** Removes a file or a link. */
  readonly unlink: (path: RemotePath, options?: FileCallOptions) => Promise<void>;

  /** Describes what a path leads to. */
  readonly stat: (path: RemotePath, options?: FileCallOptions) => Promise<Stats>;
  /** Describes what is at a path; a link itself. A link needs a server with `fsLinks`. */
  readonly lstat: (path: RemotePath, options?: FileCallOptions) => Promise<Stats>;
  /** Rejects where nothing can be found at a path. */
  readonly access: (path: RemotePath, options?: FileCallOptions) => Promise<void>;
  /** Whether a path leads to something. */
  readonly exists: (path: RemotePath, options?: FileCallOptions) => Promise<boolean>;
  /** The path without links. */
  readonly realpath: (path: RemotePath, options?: FileCallOptions) => Promise<string>;

  /** Copies content and mode of a file on the server's host; a link is followed. */
  readonly copyFile: (
    source: RemotePath,
    destination: RemotePath,
    options?: FileCallOptions,
  ) => Promise<void>;
  /** Copies a file, a link as it is, or a directory into one that need not exist, on the server's host. */
  readonly cp: (source: RemotePath, destination: RemotePath, options?: CpOptions) => Promise<void>;
  /** Needs a server with `fsRename`. */
  readonly rename: (source: RemotePath, destination: RemotePath, options?: FileCallOptions) => Promise<void>;
  /** Needs a server with `fsSetMode`. */
  readonly chmod: (path: RemotePath, mode: number, options?: FileCallOptions) => Promise<void>;
  /** Makes a link at `path` that says `target`. Needs a server with `fsLinks`. */
  readonly symlink: (target: string, path: RemotePath, options?: FileCallOptions) => Promise<void>;
  /** What a link says. Needs a server with `fsLinks`. */
  readonly readlink: (path: RemotePath, options?: FileCallOptions) => Promise<string>;

  /** The changes of a path. Watches from the call on; see `armed`. Needs a server with `fsWatch`. */
  readonly watch: (path: RemotePath, options?: WatchOptions) => FileWatch;
}
