import type { HandleFile } from '../../fs/handles.js';
import { type FileHelper, HelperGoneError } from './file-helper.js';
import { FileMethod } from './frames.js';

/** An open file is not waited for by any one request. */
const OF_NO_REQUEST = { requestId: 0, signal: new AbortController().signal };

/** A file that is open in a helper. It is closed with the helper, if not before. */
export class ConfinedFile implements HandleFile {
  #closing: Promise<void> | undefined;

  /** @param file the helper's number for it */
  constructor(
    private readonly helper: FileHelper,
    private readonly file: number,
    readonly identity: string,
    private readonly onClosed: () => void,
  ) {}

  async read(offset: number, length: number): Promise<Buffer> {
    const { chunk } = (await this.#call(FileMethod.read, { offset, length })) as { chunk: string };
    return Buffer.from(chunk, 'base64');
  }

  async write(offset: number, data: Uint8Array): Promise<void> {
    await this.#call(FileMethod.write, { offset, chunk: Buffer.from(data).toString('base64') });
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    try {
      await this.#call(FileMethod.close, {});
    } catch (error) {
      // With its helper it is closed already.
      if (!(error instanceof HelperGoneError)) throw error;
    } finally {
      this.onClosed();
    }
  }

  async #call(method: string, params: object): Promise<unknown> {
    const answer = await this.helper.call(method, { file: this.file, ...params }, OF_NO_REQUEST);
    return answer.kind === 'result' ? answer.value : undefined;
  }
}
