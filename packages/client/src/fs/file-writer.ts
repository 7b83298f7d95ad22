import { ConnectionLostError } from '../errors.js';
import { createRandomId } from '../random-id.js';
import { requireCapability } from '../require-capability.js';
import type { SessionClient } from '../session-client.js';
import { BlockWriter } from './block-writer.js';
import { explainFailure, hasErrno } from './file-system-error.js';
import { RemoteFile } from './remote-file.js';
import { toNativeText, toSiblingUri } from './remote-path.js';

/** How a file is written. */
export interface FileWriterOptions {
  /** See `WriteFileOptions`. */
  readonly atomic?: boolean | undefined;
  readonly mode?: number | undefined;
  /** What errors call the operation. */
  readonly operation: string;
  readonly signal?: AbortSignal | undefined;
}

/** Where the bytes go, and where they belong. */
interface Destination {
  readonly writtenUri: string;
  /** Path to rename to at the end; absent where it is written in place. */
  readonly finalUri?: string;
  readonly mode: number | undefined;
}

/** Writes a file piece by piece, in place or beside and then put in place. */
export class FileWriter {
  readonly #client: SessionClient;
  readonly #destination: Destination;
  readonly #operation: string;
  readonly #file: RemoteFile;
  readonly #blocks: BlockWriter;
  #writtenBytes = 0;

  static async open(client: SessionClient, uri: string, options: FileWriterOptions): Promise<FileWriter> {
    await requireCapability(client, 'fileWriteStreaming');
    const { operation, signal } = options;
    const destination = await chooseDestination(client, uri, options);
    // Asked before the file is opened, which empties it.
    if (destination.mode !== undefined) await requireCapability(client, 'fsSetMode');
    const keep = await client.supports('fsResumableStreams');
    const file = await RemoteFile.open(client, destination.writtenUri, {
      mode: 'replace',
      operation,
      keep,
      signal,
    });
    const writer = new FileWriter(client, destination, operation, file);
    try {
      // Before the first byte: nobody may read what the mode will keep from them.
      if (destination.mode !== undefined) await writer.#setMode(destination.mode, signal);
      return writer;
    } catch (error) {
      await writer.discard();
      throw error;
    }
  }

  private constructor(client: SessionClient, destination: Destination, operation: string, file: RemoteFile) {
    this.#client = client;
    this.#destination = destination;
    this.#operation = operation;
    this.#file = file;
    this.#blocks = new BlockWriter(file);
  }

  /** Takes bytes and resolves when there is room for more. */
  write(bytes: Uint8Array): Promise<void> {
    this.#writtenBytes += bytes.length;
    return this.#blocks.write(bytes);
  }

  /** Resolves when the file is complete and in place. Where that fails, it is discarded. */
  async commit(): Promise<void> {
    try {
      await this.#blocks.flush();
      await this.#file.close();
      const { finalUri } = this.#destination;
      if (finalUri !== undefined) await this.#putInPlace(finalUri);
    } catch (error) {
      await this.discard();
      throw error;
    }
  }

  /** Gives it up: what was written in place stays, what was written beside is removed. Never rejects. */
  async discard(): Promise<void> {
    await this.#blocks.abandon();
    await this.#file.close();
    const { writtenUri, finalUri } = this.#destination;
    if (finalUri === undefined) return;
    try {
      const params = { path: writtenUri, recursive: false, force: true };
      await this.#client.call('fs/remove', params, { resend: true });
    } catch {
      // The failure that led here is the one to tell of.
    }
  }

  /** Renames what was written; again after a loss, because nobody else has its name. */
  async #putInPlace(finalUri: string): Promise<void> {
    const params = { sourcePath: this.#destination.writtenUri, destinationPath: finalUri };
    const failed = { operation: this.#operation, path: toNativeText(finalUri) };
    for (let attempt = 1; ; attempt++) {
      await this.#client.ready();
      try {
        await explainFailure(this.#client.call('fs/rename', params, { resend: false }), failed);
        return;
      } catch (error) {
        if (error instanceof ConnectionLostError) continue;
        // The one before it was carried out, and only its answer was lost.
        if (attempt > 1 && hasErrno(error, 'ENOENT') && (await this.#isInPlace(finalUri))) return;
        throw error;
      }
    }
  }

  async #isInPlace(finalUri: string): Promise<boolean> {
    try {
      const { size } = await this.#client.call('fs/getMetadata', { path: finalUri });
      return size === this.#writtenBytes;
    } catch {
      return false;
    }
  }

  async #setMode(mode: number, signal: AbortSignal | undefined): Promise<void> {
    const path = this.#destination.writtenUri;
    const failed = { operation: this.#operation, path: toNativeText(path) };
    // The same mode may be set twice.
    const options = { resend: true, ...(signal && { signal }) };
    await explainFailure(this.#client.call('fs/setMode', { path, mode }, options), failed);
  }
}

async function chooseDestination(
  client: SessionClient,
  uri: string,
  options: FileWriterOptions,
): Promise<Destination> {
  if (!options.atomic) return { writtenUri: uri, mode: options.mode };
  await requireCapability(client, 'fsRename');
  const replacedUri = await findReplaced(client, uri, options);
  const finalUri = replacedUri ?? uri;
  // Beside it, because a rename must not leave the file system; a name of its own length, because names are limited.
  const writtenUri = toSiblingUri(finalUri, `.exec-server-${createRandomId()}`);
  const isKept = replacedUri !== undefined && options.mode === undefined;
  return { writtenUri, finalUri, mode: isKept ? await readMode(client, finalUri, options) : options.mode };
}

/** The path, without links, of the file that is replaced: a link stays, and its target is replaced. */
async function findReplaced(
  client: SessionClient,
  uri: string,
  { operation, signal }: FileWriterOptions,
): Promise<string | undefined> {
  const call = client.call('fs/canonicalize', { path: uri }, signal && { signal });
  try {
    return (await explainFailure(call, { operation, path: toNativeText(uri) })).path;
  } catch (error) {
    if (!hasErrno(error, 'ENOENT') || (await isLink(client, uri))) throw error;
    return undefined;
  }
}

/** Whether a path where nothing can be found is a link that leads nowhere, as far as the server can tell. */
async function isLink(client: SessionClient, uri: string): Promise<boolean> {
  try {
    return (await client.call('fs/getMetadata', { path: uri, describeLink: true })).isSymlink;
  } catch {
    return false;
  }
}

async function readMode(
  client: SessionClient,
  uri: string,
  { operation, signal }: FileWriterOptions,
): Promise<number | undefined> {
  await requireCapability(client, 'fsFullMetadata');
  const call = client.call('fs/getMetadata', { path: uri, full: true }, signal && { signal });
  return (await explainFailure(call, { operation, path: toNativeText(uri) })).mode;
}
