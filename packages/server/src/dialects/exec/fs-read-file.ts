import type { FsReadFileParams } from '@exec-server/protocol';
import { Base64ResponseWriter } from '@exec-server/rpc/node';
import type { Place } from '../../connection/lanes.js';
import { WholeFile } from '../../fs/read-file.js';
import { type ConnectionResource, EncodedResponse, type HandlerContext } from '../dialect.js';
import { answerFor, refuseFileRestriction, toNativePath } from './fs-common.js';

/** Files beyond this many bytes are read one after the other: a connection then holds one such answer, not dozens. */
const LARGE_FILE_BYTES = 8 * 1024 * 1024;

export async function readFile(params: FsReadFileParams, context: HandlerContext): Promise<EncodedResponse> {
  refuseFileRestriction(params.sandbox);
  const path = toNativePath(params.path);
  const followSymlinks = params.followSymlinks ?? true;
  return answerFor(readInTurn(() => WholeFile.open(path, { followSymlinks }), context));
}

async function readInTurn(open: () => Promise<WholeFile>, context: HandlerContext): Promise<EncodedResponse> {
  const file = await open();
  if (file.size <= LARGE_FILE_BYTES) return encodeFile(file, context);
  // Those that wait for their turn hold no descriptor.
  await file.close();
  const { connection, place } = context;
  return connection.keep(LargeReads).run(place, async () => encodeFile(await open(), context));
}

async function encodeFile(file: WholeFile, { requestId, signal }: HandlerContext): Promise<EncodedResponse> {
  try {
    const response = new Base64ResponseWriter(requestId, 'dataBase64', file.size);
    for await (const block of file.blocks(signal)) response.append(block);
    return new EncodedResponse(response.finish());
  } finally {
    await file.close();
  }
}

/** The order in which one connection reads its large files. */
class LargeReads implements ConnectionResource {
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
