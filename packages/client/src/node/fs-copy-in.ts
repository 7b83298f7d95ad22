import { type FileHandle, open, readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  encodeBase64,
  MAX_FILE_BLOCK_BYTES,
  type MethodName,
  type ParamsOf,
  pathUriToNative,
  type ResultOf,
} from '@exec-server/protocol';
import { checkOptions } from '../check-options.js';
import { explainFailure, hasErrno } from '../fs/file-system-error.js';
import { FileWriter } from '../fs/file-writer.js';
import { readStats } from '../fs/metadata.js';
import { type RemotePath, toNativeText, toPathUri, toSiblingUri } from '../fs/remote-path.js';
import { removePath } from '../fs/remove.js';
import { MAX_WHOLE_WRITE_BYTES } from '../fs/write-file.js';
import { requireCapability } from '../require-capability.js';
import { runConcurrently } from '../run-concurrently.js';
import type { SessionClient } from '../session-client.js';
import { type CopyOptions, type CopySummary, CopyTally } from './fs-copy-options.js';
import {
  type CopyPlan,
  joinBytes,
  type PlannedDirectory,
  type PlannedFile,
  type PlannedLink,
  splitLevels,
} from './fs-plan.js';
import { planLocal } from './fs-plan-local.js';

/** Most files that are sent at once: enough to hide the way to the server, few enough to leave handles for others. */
export const MAX_FILES_AT_ONCE = 8;

/** The absolute path of something on this machine. */
export function toLocalPath(path: string | URL): Buffer {
  return Buffer.from(resolve(path instanceof URL ? fileURLToPath(path) : path));
}

/** Everyone may read it, so that it does no harm when it can be read before its mode is set. */
const PUBLIC_BITS = 0o044;

/** Copies a file, a link or a tree of this machine to the server's; see `NodeFileSystem.copyIn`. */
export async function copyIn(
  client: SessionClient,
  localPath: string | URL,
  remotePath: RemotePath,
  options: CopyOptions = {},
): Promise<CopySummary> {
  checkOptions('copyIn', options, ['signal', 'onProgress']);
  const { signal, onProgress } = options;
  const destinationUri = toPathUri(remotePath);
  const source = toLocalPath(localPath);
  const plan = await planLocal(source, signal);
  if (plan.links.length > 0) await requireCapability(client, 'fsLinks');
  const keepsModes = await client.supports('fsSetMode');
  const tally = new CopyTally(plan, onProgress);
  const upload = new Upload(client, source, destinationUri, { keepsModes, tally });
  await upload.run(plan, signal);
  return tally.summarize(keepsModes);
}

class Upload {
  readonly #client: SessionClient;
  readonly #source: Buffer;
  readonly #destinationUri: string;
  readonly #destination: Buffer;
  readonly #keepsModes: boolean;
  readonly #tally: CopyTally;
  /** Directories that were not there before. */
  readonly #created: PlannedDirectory[] = [];

  constructor(
    client: SessionClient,
    source: Buffer,
    destinationUri: string,
    { keepsModes, tally }: { readonly keepsModes: boolean; readonly tally: CopyTally },
  ) {
    this.#client = client;
    this.#source = source;
    this.#destinationUri = destinationUri;
    this.#destination = Buffer.from(pathUriToNative(destinationUri));
    this.#keepsModes = keepsModes;
    this.#tally = tally;
  }

  async run({ directories, files, links }: CopyPlan, signal: AbortSignal | undefined): Promise<void> {
    const limits = { atOnce: MAX_FILES_AT_ONCE, signal };
    await this.#call('fs/createDirectory', this.#destinationUri, {
      path: toSiblingUri(this.#destinationUri, ''),
      recursive: true,
    });
    for (const level of splitLevels(directories))
      await runConcurrently(level, limits, (directory) => this.#makeDirectory(directory));
    await runConcurrently(files, limits, (file, fileSignal) => this.#sendFile(file, fileSignal));
    await runConcurrently(links, limits, (link) => this.#makeLink(link));
    // Last, and from below: a directory may be closed to those who write, or look.
    for (const level of splitLevels(this.#created).reverse())
      await runConcurrently(level, limits, ({ relativePath, mode }) =>
        this.#setMode(this.#uriOf(relativePath), mode),
      );
  }

  async #makeDirectory(directory: PlannedDirectory): Promise<void> {
    const uri = this.#uriOf(directory.relativePath);
    try {
      await this.#call('fs/createDirectory', uri, { path: uri, recursive: false });
      this.#created.push(directory);
    } catch (error) {
      const isThere =
        hasErrno(error, 'EEXIST') && (await readStats(this.#client, uri, 'copyIn')).isDirectory();
      if (!isThere) throw error;
    }
  }

  async #sendFile(file: PlannedFile, signal: AbortSignal): Promise<void> {
    const { relativePath, size, mode = 0 } = file;
    const isPublic = !this.#keepsModes || (mode & PUBLIC_BITS) === PUBLIC_BITS;
    if (isPublic && size <= MAX_WHOLE_WRITE_BYTES) await this.#sendWhole(file, signal);
    else await this.#sendBlocks(file, signal);
    this.#tally.addFile(relativePath);
  }

  /** A small file with one turn of the way to the server, whatever its mode: requests that change files keep their order. */
  async #sendWhole({ relativePath, mode }: PlannedFile, signal: AbortSignal): Promise<void> {
    const bytes = await readFile(joinBytes(this.#source, relativePath), { signal });
    const uri = this.#uriOf(relativePath);
    const params = { path: uri, dataBase64: encodeBase64(bytes) };
    await Promise.all([this.#call('fs/writeFile', uri, params), this.#setMode(uri, mode)]);
    this.#tally.addBytes(relativePath, bytes.length);
  }

  async #sendBlocks({ relativePath, mode }: PlannedFile, signal: AbortSignal): Promise<void> {
    const uri = this.#uriOf(relativePath);
    const atomic = await this.#client.supports('fsRename');
    const from = await open(joinBytes(this.#source, relativePath));
    try {
      const writer = await FileWriter.open(this.#client, uri, {
        operation: 'copyIn',
        atomic,
        mode: this.#keepsModes ? mode : undefined,
        signal,
      });
      try {
        await this.#pump(from, writer, relativePath, signal);
        await writer.commit();
      } catch (error) {
        await writer.discard();
        if (!atomic) await this.#removePartial(uri);
        throw error;
      }
    } finally {
      await from.close();
    }
  }

  /** Half a file looks like a whole one. */
  async #removePartial(uri: string): Promise<void> {
    try {
      await this.#call('fs/remove', uri, { path: uri, recursive: false, force: true });
    } catch {
      // The failure that led here is the one to tell of.
    }
  }

  async #pump(from: FileHandle, writer: FileWriter, path: Buffer, signal: AbortSignal): Promise<void> {
    const block = Buffer.allocUnsafe(MAX_FILE_BLOCK_BYTES);
    for (;;) {
      signal.throwIfAborted();
      const { bytesRead } = await from.read(block, 0, block.length);
      if (bytesRead === 0) return;
      await writer.write(block.subarray(0, bytesRead));
      this.#tally.addBytes(path, bytesRead);
    }
  }

  /** A link that is there already is replaced, as the content of a file is. */
  async #makeLink({ relativePath, target }: PlannedLink): Promise<void> {
    const uri = this.#uriOf(relativePath);
    const link = () => this.#call('fs/symlink', uri, { path: uri, target });
    try {
      await link();
    } catch (error) {
      if (!hasErrno(error, 'EEXIST')) throw error;
      await removePath(this.#client, uri, { operation: 'unlink' });
      await link();
    }
  }

  async #setMode(uri: string, mode: number | undefined): Promise<void> {
    if (this.#keepsModes && mode !== undefined) await this.#call('fs/setMode', uri, { path: uri, mode });
  }

  #uriOf(relativePath: Buffer): string {
    return toPathUri(joinBytes(this.#destination, relativePath));
  }

  #call<M extends MethodName>(method: M, uri: string, params: ParamsOf<M>): Promise<ResultOf<M>> {
    const failed = { operation: 'copyIn', path: toNativeText(uri) };
    return explainFailure(this.#client.call(method, params), failed);
  }
}
