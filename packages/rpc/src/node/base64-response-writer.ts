import { formatRequestId, type RequestId } from '@exec-server/protocol';
import { spareBuffers } from './spare-buffers.js';
import { base64Length, writeBase64 } from './write-base64.js';

/** Bytes that are encoded together. */
const GROUP_BYTES = 3;

const TAIL = Buffer.from('"}}\n');

/**
 * Writes a response whose result is one base64 member, piece by piece into one buffer, with its newline. The encoded
 * bytes are never a string of their own as a whole: strings end at half a gibibyte, and building one that long would
 * hold up everything else.
 */
export class Base64ResponseWriter {
  #line: Buffer<ArrayBuffer>;
  #length: number;
  /** Bytes that wait for the rest of their group. */
  #spare = Buffer.alloc(0);

  /** @param expectedBytes how many bytes are to be appended; a guess may be wrong, but costs copies */
  constructor(id: RequestId, member: string, expectedBytes: number) {
    const head = Buffer.from(`{"id":${formatRequestId(id)},"result":{${JSON.stringify(member)}:"`);
    this.#line = spareBuffers.take(head.length + base64Length(expectedBytes) + TAIL.length);
    this.#length = head.copy(this.#line);
  }

  /** Takes the next bytes; they are copied. */
  append(bytes: Buffer): void {
    const missing = this.#spare.length === 0 ? 0 : GROUP_BYTES - this.#spare.length;
    if (bytes.length < missing) {
      this.#spare = Buffer.concat([this.#spare, bytes]);
      return;
    }
    this.#encode(Buffer.concat([this.#spare, bytes.subarray(0, missing)]));
    const end = bytes.length - ((bytes.length - missing) % GROUP_BYTES);
    this.#encode(bytes.subarray(missing, end));
    this.#spare = Buffer.from(bytes.subarray(end));
  }

  /** Ends the response and hands it over; its memory may be used until `release`. */
  finish(): Buffer<ArrayBuffer> {
    this.#encode(this.#spare);
    this.#reserve(TAIL.length);
    this.#length += TAIL.copy(this.#line, this.#length);
    return this.#line.subarray(0, this.#length);
  }

  /** Gives the memory of the response back. To be called once nobody uses it any more, or never. */
  release(): void {
    spareBuffers.give(this.#line);
  }

  #encode(bytes: Buffer): void {
    this.#reserve(base64Length(bytes.length));
    this.#length += writeBase64(bytes, this.#line, this.#length);
  }

  #reserve(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed <= this.#line.length) return;
    const larger = spareBuffers.take(Math.max(needed, 2 * this.#line.length));
    this.#line.copy(larger, 0, 0, this.#length);
    spareBuffers.give(this.#line);
    this.#line = larger;
  }
}
