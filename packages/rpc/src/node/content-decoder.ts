import { spareBuffers } from './spare-buffers.js';

const GROUP_SYMBOLS = 4;
const GROUP_BYTES = 3;

/** Bytes of a string that are decoded before anybody asks for the time again: strings of this size are collected cheaply. */
const SLICE_BYTES = 16 * 1024 * GROUP_SYMBOLS;

const PADDING = 0x3d;
const BACKSLASH = 0x5c;
/** Such as `\\u002f`. */
const LONGEST_ESCAPE_BYTES = 6;

/** Where a string literal is, without its quotes. */
export interface ContentSpan {
  readonly start: number;
  readonly end: number;
  readonly isEscaped: boolean;
}

/** Decodes standard base64 that is a string of a JSON text, a piece at a time. */
export class ContentDecoder {
  readonly #span: ContentSpan;
  #into: Buffer<ArrayBuffer> | undefined;
  #at: number;
  #length = 0;
  /** Symbols that wait for the rest of their group. */
  #carry = '';

  constructor(span: ContentSpan) {
    this.#span = span;
    this.#at = span.start;
  }

  /**
   * Goes on while there is time. The content once all of it is decoded, in memory that {@link spareBuffers} takes back;
   * `null` for text that is anything but standard base64: a foreign symbol, no padding, bits that are not used but set.
   */
  read(bytes: Buffer, hasTime: () => boolean): Buffer<ArrayBuffer> | null | undefined {
    this.#into ??= spareBuffers.take(this.#measure(bytes));
    do {
      const isLast = this.#span.end - this.#at <= SLICE_BYTES;
      const piece = this.#takePiece(bytes);
      if (piece === undefined || !this.#append(piece, isLast, this.#into)) {
        spareBuffers.give(this.#into);
        return null;
      }
      if (isLast) return this.#finish(this.#into);
    } while (hasTime());
    return undefined;
  }

  /** How many bytes are spelled; of a string with escapes, how many there can be. */
  #measure(bytes: Buffer): number {
    const { start, end, isEscaped } = this.#span;
    const most = Math.ceil((end - start) / GROUP_SYMBOLS) * GROUP_BYTES;
    if (isEscaped) return most;
    const padding = [end - 1, end - 2].filter((at) => at >= start && bytes[at] === PADDING).length;
    return Math.max(0, most - padding);
  }

  /** Only the very buffer that was taken can be given back. */
  #finish(into: Buffer<ArrayBuffer>): Buffer<ArrayBuffer> {
    return this.#length === into.length ? into : into.subarray(0, this.#length);
  }

  /** Nothing for an escape that base64 has no use for. */
  #takePiece(bytes: Buffer): string | undefined {
    const { end, isEscaped } = this.#span;
    const pieceEnd = Math.min(this.#at + SLICE_BYTES, end);
    const cut = isEscaped && pieceEnd < end ? beforeEscape(bytes, pieceEnd) : pieceEnd;
    const text = bytes.toString('latin1', this.#at, cut);
    this.#at = cut;
    return isEscaped ? removeEscapes(text) : text;
  }

  #append(piece: string, isLast: boolean, into: Buffer): boolean {
    const symbols = this.#carry === '' ? piece : `${this.#carry}${piece}`;
    const whole = symbols.slice(0, symbols.length - (symbols.length % GROUP_SYMBOLS));
    this.#carry = symbols.slice(whole.length);
    if (whole.includes('-') || whole.includes('_')) return false;
    if (!isLast) return this.#decode(whole, into);
    if (this.#carry !== '') return false;
    // The last group may be padded.
    const plain = whole.slice(0, -GROUP_SYMBOLS);
    return this.#decode(plain, into) && this.#decodeLast(whole.slice(plain.length), into);
  }

  #decode(symbols: string, into: Buffer): boolean {
    const written = into.write(symbols, this.#length, 'base64');
    this.#length += written;
    // Node passes over what is no symbol, and then there are fewer bytes than there should be.
    return written === (symbols.length / GROUP_SYMBOLS) * GROUP_BYTES;
  }

  /** Proved by spelling its bytes again, for they have one spelling only. */
  #decodeLast(group: string, into: Buffer): boolean {
    const last = Buffer.from(group, 'base64');
    if (last.toString('base64') !== group) return false;
    this.#length += last.copy(into, this.#length);
    return true;
  }
}

/** `end`, or a little before it where that may be inside of an escape. */
function beforeEscape(bytes: Buffer, end: number): number {
  const from = end - LONGEST_ESCAPE_BYTES + 1;
  const backslash = bytes.subarray(from, end).lastIndexOf(BACKSLASH);
  return backslash === -1 ? end : from + backslash;
}

function removeEscapes(text: string): string | undefined {
  try {
    return JSON.parse(`"${text}"`) as string;
  } catch {
    return undefined;
  }
}
