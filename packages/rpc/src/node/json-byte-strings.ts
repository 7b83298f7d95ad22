import { JsonSyntaxError } from '@exec-server/protocol';

/** Bytes of a string that are looked at one by one before the rest is searched. */
const SHORT_BYTES = 64;
/** Most that is searched at once, in bytes. */
const SEARCHED_BYTES = 1024 * 1024;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LOWER_U = 0x75;
const FIRST_PRINTABLE = 0x20;
const FIRST_NON_ASCII = 0x80;
/** Codes that may follow a backslash on their own. */
const SIMPLE_ESCAPES = new Set(Buffer.from('"\\/bfnrt'));
const CONTROL_CHARACTER = /[^\u0020-\uffff]/;
const HEX_CHARS = 4;
const MAX_CHAR_BYTES = 4;
const HEX_DIGITS = /^[0-9a-fA-F]{4}$/;

/** Says where something went wrong: behind so many bytes. */
export type Fail = (problem: string, consumedBytes: number) => never;

/** Finds the end of one string literal after the other in JSON text of valid UTF-8, a piece at a time. */
export class JsonByteStrings {
  readonly #bytes: Buffer;
  readonly #fail: Fail;
  #start = 0;
  #at = 0;
  #isEscaped = false;
  /** All bits of the bytes that were looked at, and whether some were only searched. */
  #bits = 0;
  #wasSearched = false;

  constructor(bytes: Buffer, fail: Fail) {
    this.#bytes = bytes;
    this.#fail = fail;
  }

  /** Where the inside of the string begins. */
  get start(): number {
    return this.#start;
  }

  /** Where its inside ends, once `find` has said so. */
  get end(): number {
    return this.#at;
  }

  get isEscaped(): boolean {
    return this.#isEscaped;
  }

  /** Begins with the string whose inside begins at `start`. */
  begin(start: number): void {
    this.#start = start;
    this.#at = start;
    this.#isEscaped = false;
    this.#bits = 0;
    this.#wasSearched = false;
  }

  /** Looks at `windowBytes` or a little more. False when the end is still to be found. Throws `JsonSyntaxError`. */
  find(windowBytes: number): boolean {
    const bytes = this.#bytes;
    const stop = Math.min(bytes.length, this.#at + windowBytes);
    let at = this.#at;
    let plain = 0;
    while (at < stop) {
      const byte = bytes[at] as number;
      if (byte === QUOTE) {
        this.#at = at;
        return true;
      }
      if (byte === BACKSLASH) {
        at = this.#readEscape(at);
        plain = 0;
        continue;
      }
      if (byte < FIRST_PRINTABLE) this.#failOnControl(at);
      this.#bits |= byte;
      at += 1;
      plain += 1;
      if (plain < SHORT_BYTES) continue;
      at = this.#search(at);
      plain = 0;
    }
    if (at >= bytes.length) this.#failAtEnd();
    this.#at = at;
    return false;
  }

  /** The text of the string that was found. Throws `JsonSyntaxError`. */
  decode(): string {
    return decodeJsonString(this.#bytes, this, this.#fail);
  }

  /** Whether the bytes are known to be printable ASCII. */
  get isPlain(): boolean {
    return !this.#wasSearched && this.#bits < FIRST_NON_ASCII;
  }

  /** The next quote or backslash, or as far as was searched. */
  #search(from: number): number {
    const window = this.#bytes.subarray(from, from + SEARCHED_BYTES);
    const quote = window.indexOf(QUOTE);
    const end = quote === -1 ? window.length : quote;
    const backslash = window.subarray(0, end).indexOf(BACKSLASH);
    const found = backslash === -1 ? end : backslash;
    if (found > 0) this.#wasSearched = true;
    return from + found;
  }

  /** Reads the escape whose backslash is at `at` and answers the position behind it. */
  #readEscape(at: number): number {
    this.#isEscaped = true;
    const code = this.#bytes[at + 1];
    if (code === undefined) this.#failAtEnd();
    if (code === LOWER_U) return this.#readUnicodeEscape(at);
    if (!SIMPLE_ESCAPES.has(code)) this.#fail('invalid escape', this.#behind(at + 1));
    return at + 2;
  }

  #readUnicodeEscape(at: number): number {
    const unit = this.#readHex(at + 2);
    const end = at + 6;
    if (unit < 0xd800 || unit > 0xdfff) return end;
    if (unit >= 0xdc00) this.#fail('lone leading surrogate in hex escape', end);
    // A leading surrogate means nothing without the trailing one, which must come as an escape too.
    this.#expect(end, BACKSLASH);
    this.#expect(end + 1, LOWER_U);
    const trailing = this.#readHex(end + 2);
    if (trailing < 0xdc00 || trailing > 0xdfff) this.#fail('lone leading surrogate in hex escape', end + 6);
    return end + 6;
  }

  #expect(at: number, expected: number): void {
    const code = this.#bytes[at];
    if (code === undefined) this.#failAtEnd();
    if (code !== expected) this.#fail('unexpected end of hex escape', this.#behind(at));
  }

  #readHex(from: number): number {
    const digits = this.#bytes.toString('latin1', from, from + HEX_CHARS);
    if (HEX_DIGITS.test(digits)) return Number.parseInt(digits, 16);
    const found = this.#bytes.toString('utf8', from, from + HEX_CHARS * MAX_CHAR_BYTES).slice(0, HEX_CHARS);
    if (found.length < HEX_CHARS) this.#failAtEnd();
    return this.#fail('invalid escape', from + Buffer.byteLength(found));
  }

  #behind(at: number): number {
    return at + charBytes(this.#bytes[at] as number);
  }

  #failOnControl(at: number): never {
    return this.#fail(CONTROL_PROBLEM, at + 1);
  }

  #failAtEnd(): never {
    return this.#fail('EOF while parsing a string', this.#bytes.length);
  }
}

const CONTROL_PROBLEM = 'control character (\\u0000-\\u001F) found while parsing a string';

/** Where a string literal is, without its quotes, and what is known of it. */
export interface StringSpan {
  readonly start: number;
  readonly end: number;
  readonly isEscaped: boolean;
  readonly isPlain: boolean;
}

/** The text of a string literal that was found. Throws `JsonSyntaxError`. */
export function decodeJsonString(bytes: Buffer, span: StringSpan, fail: Fail): string {
  const { start, end, isEscaped, isPlain } = span;
  if (isPlain) return isEscaped ? parseLiteral(bytes, span, fail) : bytes.toString('latin1', start, end);
  const text = bytes.toString('utf8', start, end);
  const control = text.search(CONTROL_CHARACTER);
  if (control !== -1) fail(CONTROL_PROBLEM, start + Buffer.byteLength(text.slice(0, control)) + 1);
  return isEscaped ? parseLiteral(bytes, span, fail) : text;
}

function parseLiteral(bytes: Buffer, { start, end }: StringSpan, fail: Fail): string {
  try {
    return JSON.parse(bytes.toString('utf8', start - 1, end + 1)) as string;
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw error;
    return fail('invalid string', end);
  }
}

/** How far a problem that is found at a character reaches, by its first byte: to the end of its first UTF-16 unit. */
export function charBytes(first: number): number {
  if (first < 0xc0) return 1;
  return first < 0xe0 ? 2 : 3;
}
