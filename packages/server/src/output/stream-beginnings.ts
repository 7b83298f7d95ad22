import type { OutputStream } from '../native/launch.js';

/** What is kept of a stream that has said nothing. */
export const NOTHING = Buffer.alloc(0);

/** Keeps the first bytes of each stream. */
export class StreamBeginnings {
  readonly #beginnings = new Map<OutputStream, Buffer>();
  readonly #limitBytes: number;
  #bytes = 0;

  /** @param limitBytes kept of each stream */
  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  /** Bytes kept of all streams. */
  get bytes(): number {
    return this.#bytes;
  }

  of(stream: OutputStream): Buffer {
    return this.#beginnings.get(stream) ?? NOTHING;
  }

  /** Takes what follows on what it was given of the stream before. */
  append(stream: OutputStream, data: Buffer): void {
    const kept = this.of(stream);
    const room = this.#limitBytes - kept.length;
    if (room <= 0) return;
    const joined = Buffer.concat([kept, data.subarray(0, room)]);
    this.#beginnings.set(stream, joined);
    this.#bytes += joined.length - kept.length;
  }
}
