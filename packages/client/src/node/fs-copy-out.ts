import { randomUUID } from 'node:crypto';
import {
  chmod,
  type FileHandle,
  mkdir,
  open,
  realpath,
  rename,
  rm,
  stat,
  symlink,
  unlink,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { decodeBase64, pathUriToNative } from '@exec-server/protocol';
import { checkOptions } from '../check-options.js';
import { explainFailure } from '../fs/file-system-error.js';
import { createReadStream } from '../fs/read-stream.js';
import { type RemotePath, toNativeText, toPathUri } from '../fs/remote-path.js';
import { runConcurrently } from '../run-concurrently.js';
import type { SessionClient } from '../session-client.js';
import { MAX_FILES_AT_ONCE, toLocalPath } from './fs-copy-in.js';
import { type CopyOptions, type CopySummary, CopyTally } from './fs-copy-options.js';
import {
  type CopyPlan,
  joinBytes,
  type PlannedDirectory,
  type PlannedFile,
  type PlannedLink,
  splitLevels,
} from './fs-plan.js';
import { planRemote } from './fs-plan-remote.js';

/** Largest file that is read with one request, in bytes. */
const MAX_WHOLE_READ_BYTES = 256 * 1024;

/** Permissions of a file until it is complete: nobody else reads half of it. */
const PARTIAL_FILE_MODE = 0o600;

/** Permissions of a new file whose own are not known, before the umask. */
const NEW_FILE_MODE = 0o666;

/** Copies a file, a link or a tree of the server's machine to this one; see `NodeFileSystem.copyOut`. */
export async function copyOut(
  client: SessionClient,
  remotePath: RemotePath,
  localPath: string | URL,
  options: CopyOptions = {},
): Promise<CopySummary> {
  checkOptions('copyOut', options, ['signal', 'onProgress']);
  const { signal, onProgress } = options;
  const uri = toPathUri(remotePath);
  const plan = await planRemote(client, uri, signal);
  const tally = new CopyTally(plan, onProgress);
  const download = new Download(client, uri, toLocalPath(localPath), tally);
  await download.run(plan, signal);
  return tally.summarize([...plan.files, ...plan.directories].every(({ mode }) => mode !== undefined));
}

class Download {
  readonly #client: SessionClient;
  readonly #source: Buffer;
  readonly #destination: Buffer;
  readonly #tally: CopyTally;
  /** Directories that were not there before. */
  readonly #created: PlannedDirectory[] = [];

  constructor(client: SessionClient, sourceUri: string, destination: Buffer, tally: CopyTally) {
    this.#client = client;
    this.#source = Buffer.from(pathUriToNative(sourceUri));
    this.#destination = destination;
    this.#tally = tally;
  }

  async run({ directories, files, links }: CopyPlan, signal: AbortSignal | undefined): Promise<void> {
    const limits = { atOnce: MAX_FILES_AT_ONCE, signal };
    await mkdir(dirname(String(this.#destination)), { recursive: true });
    for (const level of splitLevels(directories))
      await runConcurrently(level, limits, (directory) => this.#makeDirectory(directory));
    await runConcurrently(files, limits, (file, fileSignal) => this.#fetchFile(file, fileSignal));
    // After all files: none of them can be written through a link that the server made up.
    await runConcurrently(links, limits, (link) => this.#makeLink(link));
    for (const level of splitLevels(this.#created).reverse())
      await runConcurrently(level, limits, async ({ relativePath, mode }) => {
        if (mode !== undefined) await chmod(joinBytes(this.#destination, relativePath), mode);
      });
  }

  async #makeDirectory(directory: PlannedDirectory): Promise<void> {
    const path = joinBytes(this.#destination, directory.relativePath);
    try {
      await mkdir(path);
      this.#created.push(directory);
    } catch (error) {
      if (!isErrno(error, 'EEXIST') || !(await stat(path)).isDirectory()) throw error;
    }
  }

  /** Written beside and put in place when it is complete, so that nobody finds half of it. */
  async #fetchFile(planned: PlannedFile, signal: AbortSignal): Promise<void> {
    const { relativePath, mode } = planned;
    const path = await resolveLinks(joinBytes(this.#destination, relativePath));
    const partial = besideLocal(path, `.exec-server-${randomUUID()}`);
    const file = await open(partial, 'wx', PARTIAL_FILE_MODE);
    try {
      try {
        await this.#pump(planned, file, signal);
        await file.chmod(mode ?? NEW_FILE_MODE & ~process.umask());
      } finally {
        await file.close();
      }
      await rename(partial, path);
    } catch (error) {
      await rm(partial, { force: true });
      throw error;
    }
    this.#tally.addFile(relativePath);
  }

  async #pump({ relativePath, size }: PlannedFile, file: FileHandle, signal: AbortSignal): Promise<void> {
    const uri = toPathUri(joinBytes(this.#source, relativePath));
    for await (const chunk of this.#read(uri, size, signal)) {
      await file.writeFile(chunk);
      this.#tally.addBytes(relativePath, chunk.length);
    }
  }

  /** A small file with one request, others in blocks. */
  async *#read(uri: string, size: number, signal: AbortSignal): AsyncGenerator<Uint8Array, void> {
    if (size > MAX_WHOLE_READ_BYTES) yield* createReadStream(this.#client, uri, { signal });
    else {
      const call = this.#client.call('fs/readFile', { path: uri }, { signal });
      const { dataBase64 } = await explainFailure(call, { operation: 'copyOut', path: toNativeText(uri) });
      yield decodeBase64(dataBase64);
    }
  }

  async #makeLink({ relativePath, target }: PlannedLink): Promise<void> {
    const path = joinBytes(this.#destination, relativePath);
    try {
      await symlink(target, path);
    } catch (error) {
      if (!isErrno(error, 'EEXIST')) throw error;
      await unlink(path);
      await symlink(target, path);
    }
  }
}

/** A link to a file stays, and what it leads to is replaced. */
async function resolveLinks(path: Buffer): Promise<Buffer> {
  try {
    return await realpath(path, { encoding: 'buffer' });
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return path;
    throw error;
  }
}

/** Another name in the same directory. One character for each byte keeps names that are no UTF-8. */
function besideLocal(path: Buffer, name: string): Buffer {
  return Buffer.from(join(dirname(path.toString('latin1')), name), 'latin1');
}

function isErrno(error: unknown, code: string): boolean {
  return (error as NodeJS.ErrnoException).code === code;
}
