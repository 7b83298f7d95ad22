import { invalidRequest, notFound } from '@exec-server/protocol';
import { OpenFile, type OpenMode } from '../../../fs/handles-file.js';
import { PROC_KIND } from '../../../fs/watch/file-systems.js';
import { answerFor, toNativePath } from '../fs-common.js';

/** A place in an open file. */
export interface BlockParams {
  readonly file: number;
  readonly offset: number;
}

/** The files that a helper has open, by numbers of its own. The server counts them for its connections. */
export class OpenFiles {
  readonly #files = new Map<number, OpenFile>();
  #last = 0;

  async open({
    path,
    mode,
  }: {
    readonly path: string;
    readonly mode: OpenMode;
  }): Promise<{ file: number; identity: string }> {
    const file = await answerFor(OpenFile.open(toNativePath(path), mode));
    // At an offset of its choice a reader would find the memory of this very program there, and what others asked of it.
    if ((await answerFor(file.readFileSystemKind())) === PROC_KIND) {
      await file.close();
      throw invalidRequest(
        `${path} is a file of the kernel, which cannot be opened in a sandbox; read it whole with fs/readFile`,
      );
    }
    this.#files.set(++this.#last, file);
    return { file: this.#last, identity: file.identity };
  }

  async read({
    file,
    offset,
    length,
  }: BlockParams & { readonly length: number }): Promise<{ chunk: string }> {
    const block = await answerFor(this.#find(file).read(offset, length));
    return { chunk: block.toString('base64') };
  }

  async write({ file, offset, chunk }: BlockParams & { readonly chunk: string }): Promise<object> {
    await answerFor(this.#find(file).write(offset, Buffer.from(chunk, 'base64')));
    return {};
  }

  async close({ file }: Pick<BlockParams, 'file'>): Promise<object> {
    const open = this.#find(file);
    this.#files.delete(file);
    await open.close();
    return {};
  }

  #find(file: number): OpenFile {
    const open = this.#files.get(file);
    if (open === undefined) throw notFound(`unknown file ${file}`, 'handle_unknown');
    return open;
  }
}
