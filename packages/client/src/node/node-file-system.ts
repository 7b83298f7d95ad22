import { createFileSystem } from '../fs/create-file-system.js';
import type { FileSystem } from '../fs/file-system.js';
import type { RemotePath } from '../fs/remote-path.js';
import type { SessionClient } from '../session-client.js';
import { copyIn } from './fs-copy-in.js';
import type { CopyOptions, CopySummary } from './fs-copy-options.js';
import { copyOut } from './fs-copy-out.js';

/** The files of the server's host, and ways between them and those of this machine. */
export interface NodeFileSystem extends FileSystem {
  /**
   * Copies a file, a link or a directory with everything in it from this machine. `remotePath` is what the copy is
   * called, not where it is put, as with `cp` of `node:fs`; directories on the way are made, and one that is there is
   * copied into. Modes and links stay as they are. A file is complete or as it was, also when the copy fails.
   */
  readonly copyIn: (
    localPath: string | URL,
    remotePath: RemotePath,
    options?: CopyOptions,
  ) => Promise<CopySummary>;
  /**
   * Copies a file, a link or a directory with everything in it to this machine, by the same rules. Names that are no
   * UTF-8 cannot be copied, because the server cannot spell them.
   */
  readonly copyOut: (
    remotePath: RemotePath,
    localPath: string | URL,
    options?: CopyOptions,
  ) => Promise<CopySummary>;
}

/** The files of the host that a client is connected to. Its functions need no `this`. */
export function createNodeFileSystem(client: SessionClient): NodeFileSystem {
  return {
    ...createFileSystem(client),
    copyIn: (localPath, remotePath, options) => copyIn(client, localPath, remotePath, options),
    copyOut: (remotePath, localPath, options) => copyOut(client, remotePath, localPath, options),
  };
}
