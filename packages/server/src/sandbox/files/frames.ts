import { spareBuffers } from '@exec-server/rpc/node';

/*
 * What the server and a helper say to each other: frames of a header and a body. The header has the length of the body
 * in bytes (u32), the number of the call that it belongs to (u32) and what it is (u8), all little endian.
 */

/** What a frame is. The first two are the server's, the others the helper's. */
export const FrameKind = {
  /** JSON of a {@link HelperCall}. */
  call: 0,
  /** The server does not wait for the answer any more. No body. */
  cancel: 1,
  /** JSON of a result. */
  result: 2,
  /** JSON of a {@link HelperFailure}. */
  failure: 3,
  /** A whole response of the wire, as it goes to the client. */
  response: 4,
} as const;

export type FrameKind = (typeof FrameKind)[keyof typeof FrameKind];

export interface Frame {
  readonly kind: FrameKind;
  /** The call that it is about. */
  readonly id: number;
  readonly body: Uint8Array;
}

/** A frame as it was put together. */
export interface ReceivedFrame extends Frame {
  readonly body: Buffer<ArrayBuffer>;
}

/** What a helper is asked to do. */
export interface HelperCall {
  readonly method: string;
  readonly params: unknown;
  /** JSON of the id of the request that the call is made for; it may be an integer beyond what numbers can tell. */
  readonly requestId: string;
}

/** Methods of a helper for files that stay open; what else it does, its callers know. */
export const FileMethod = {
  open: 'file/open',
  read: 'file/read',
  write: 'file/write',
  close: 'file/close',
} as const;

/** Why a helper did not do it. Without a code it is the helper's own fault. */
export interface HelperFailure {
  readonly code?: number;
  readonly message: string;
  /** `data` of the error. */
  readonly data?: unknown;
}

const HEADER_BYTES = 9;

/** The frame as it is sent, in two parts, so that large bodies are not copied. */
export function encodeFrame({ kind, id, body }: Frame): [header: Buffer, body: Uint8Array] {
  const header = Buffer.allocUnsafe(HEADER_BYTES);
  header.writeUInt32LE(body.length, 0);
  header.writeUInt32LE(id, 4);
  header.writeUInt8(kind, 8);
  return [header, body];
}

/** Puts frames together from the chunks in which they arrive. */
export class FrameReader {
  #header = Buffer.alloc(HEADER_BYTES);
  #headerFilled = 0;
  #body: ReceivedFrame['body'] | undefined;
  #bodyFilled = 0;

  /**
   * @param maxBodyBytes a frame that says that it is larger is an error
   * @param onFrame may give the body to {@link spareBuffers}
   */
  constructor(
    private readonly maxBodyBytes: number,
    private readonly onFrame: (frame: ReceivedFrame) => void,
  ) {}

  /** Keeps nothing of `chunk`. Throws a `RangeError` for what is no frame; nothing after it can be read. */
  push(chunk: Buffer): void {
    for (let at = 0; at < chunk.length; ) at += this.#take(chunk.subarray(at));
  }

  /** Takes what belongs to the frame under way, and says how much that was. */
  #take(bytes: Buffer): number {
    let taken: number;
    if (this.#body === undefined) {
      taken = bytes.copy(this.#header, this.#headerFilled);
      this.#headerFilled += taken;
      if (this.#headerFilled < HEADER_BYTES) return taken;
      const length = this.#header.readUInt32LE(0);
      if (length > this.maxBodyBytes) throw new RangeError(`a frame of ${length} bytes`);
      this.#body = spareBuffers.take(length);
      this.#bodyFilled = 0;
    } else {
      taken = bytes.copy(this.#body, this.#bodyFilled);
      this.#bodyFilled += taken;
    }
    if (this.#bodyFilled === this.#body.length) this.#finish(this.#body);
    return taken;
  }

  #finish(body: ReceivedFrame['body']): void {
    const id = this.#header.readUInt32LE(4);
    const kind = this.#header.readUInt8(8) as FrameKind;
    this.#headerFilled = 0;
    this.#body = undefined;
    this.onFrame({ kind, id, body });
  }
}
