import { checkBase64, encodeBase64, invalidRequest } from '@exec-server/protocol';
import { Base64ResponseWriter, type ContentMember, type ContentMembers } from '@exec-server/rpc/node';
import type { Place } from '../connection/lanes.js';
import { WholeFile } from '../fs/read-file.js';
import { type ConnectionResource, EncodedResponse, type HandlerContext } from './dialect.js';

/** Files beyond this many bytes are read one after the other: a connection then holds one such answer, not dozens. */
const LARGE_FILE_BYTES = 8 * 1024 * 1024;

/** The request whose params are mostly the bytes of a file, in every dialect that has it. */
export const CONTENT_MEMBER: ContentMember = { method: 'fs/writeFile', member: 'dataBase64' };

/** Members of params that carry bytes in base64, in all dialects. Who handles such a request finds them in its context. */
export const CONTENT_MEMBERS: ContentMembers = {
  [CONTENT_MEMBER.method]: [CONTENT_MEMBER.member],
  'fs/writeBlock': ['chunk'],
  'process/write': ['chunk'],
  'process/writeStdin': ['deltaBase64'],
  'command/exec/write': ['chunk', 'deltaBase64'],
  'http/request': ['bodyBase64'],
};

/** Content that came with a request, for whoever wants it as a `Buffer`. */
export function toBuffer(content: Uint8Array<ArrayBuffer> | undefined): Buffer<ArrayBuffer> | undefined {
  return content && Buffer.from(content.buffer, content.byteOffset, content.byteLength);
}

/** Params with the content that was taken out of them, for whoever gets nothing else. */
export function restoreContent(params: object, content: Uint8Array | undefined): object {
  return content === undefined ? params : { ...params, [CONTENT_MEMBER.member]: encodeBase64(content) };
}

/** What the answer to `fs/readFile` depends on, beside the file. */
export interface ContentContext extends Pick<HandlerContext, 'requestId' | 'signal' | 'place'> {
  readonly largeReads: LargeReads;
}

/** The bytes that `fs/writeFile` is to write. Throws an `RpcError`. */
export function decodeContent(dataBase64: string): Buffer {
  const data = Buffer.from(dataBase64, 'base64');
  // Bytes have exactly one spelling, so what comes out the same is valid; that takes a tenth of looking at each symbol.
  if (data.toString('base64') === dataBase64) return data;
  throw invalidRequest(`fs/writeFile requires valid base64 dataBase64: ${checkBase64(dataBase64)}`);
}

/** The answer to `fs/readFile`. Throws an `OsError` or a `FileError`. */
export async function encodeContent(
  path: Buffer,
  { followSymlinks }: { readonly followSymlinks: boolean },
  context: ContentContext,
): Promise<EncodedResponse> {
  const open = () => WholeFile.open(path, { followSymlinks });
  const file = await open();
  if (file.size <= LARGE_FILE_BYTES) return encodeFile(file, context);
  // Those that wait for their turn hold no descriptor.
  await file.close();
  const { largeReads, place } = context;
  return largeReads.run(place, async () => encodeFile(await open(), context));
}

async function encodeFile(file: WholeFile, { requestId, signal }: ContentContext): Promise<EncodedResponse> {
  try {
    const response = new Base64ResponseWriter(requestId, 'dataBase64', file.size);
    for await (const block of file.blocks(signal)) response.append(block);
    return new EncodedResponse(response.finish(), () => response.release());
  } finally {
    await file.close();
  }
}

/** The order in which one connection reads its large files. */
export class LargeReads implements ConnectionResource {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs after the ones before, and not before the client takes answers: a place is only given back then. */
  run<T>(place: Place, read: () => Promise<T>): Promise<T> {
    const result = place.park(this.#last).then(read);
    this.#last = result.catch(() => {});
    return result;
  }

  /** Reads give up by their signal. */
  close(): void {}
}
