/** Text that is no JSON, or more of it than a message may hold. The message says what and where. */
export class JsonSyntaxError extends Error {
  static {
    JsonSyntaxError.prototype.name = 'JsonSyntaxError';
  }
}

/** A string whose end is not found within so many characters is searched by `indexOf` instead of looked at. */
const SHORT_STRING_CHARS = 64;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LOWER_U = 0x75;
/** Codes that may follow a backslash on their own. */
const SIMPLE_ESCAPES = new Set(Array.from('"\\/bfnrt', (character) => character.charCodeAt(0)));

const CONTROL_CHARACTER = /[^\u0020-\uffff]/;
const HEX_DIGITS = /^[0-9a-fA-F]{4}$/;

/** Finds the ends of the string literals of one JSON text. Reads forward only. */
export class StringScanner {
  readonly #text: string;
  readonly #checkLongStrings: boolean;
  /** First quote and first backslash at or after the place last searched from; each character is searched once. */
  #nextQuote = -1;
  #nextBackslash = -1;
  /** Whether the literal read last holds an escape. */
  #escaped = false;

  constructor(text: string, checkLongStrings: boolean) {
    this.#text = text;
    this.#checkLongStrings = checkLongStrings;
  }

  /** Reads the literal whose opening quote is at `start` and answers the position behind its closing quote. */
  read(start: number): number {
    const text = this.#text;
    const shortEnd = start + SHORT_STRING_CHARS;
    this.#escaped = false;
    let position = start + 1;
    while (position < shortEnd) {
      const code = text.charCodeAt(position);
      if (code === QUOTE) return position + 1;
      if (code === BACKSLASH) position = this.#readEscape(position);
      else if (code >= 0x20) position++;
      else if (Number.isNaN(code)) this.#failAtEnd();
      else this.#failOnControl(position);
    }
    return this.#readLong(position);
  }

  /** The value of the literal between `start` and `end`, which {@link read} has just accepted. */
  decode(start: number, end: number): string {
    if (this.#escaped) return JSON.parse(this.#text.slice(start, end)) as string;
    return this.#text.slice(start + 1, end - 1);
  }

  #readLong(from: number): number {
    let position = from;
    while (true) {
      if (this.#nextQuote < position) this.#nextQuote = this.#find('"', position);
      if (this.#nextBackslash < position) this.#nextBackslash = this.#find('\\', position);
      const stop = Math.min(this.#nextQuote, this.#nextBackslash);
      if (this.#checkLongStrings) this.#checkControls(position, stop);
      if (stop === this.#text.length) this.#failAtEnd();
      if (stop === this.#nextQuote) return stop + 1;
      position = stop;
      while (this.#text.charCodeAt(position) === BACKSLASH) position = this.#readEscape(position);
    }
  }

  #find(character: string, from: number): number {
    const found = this.#text.indexOf(character, from);
    return found === -1 ? this.#text.length : found;
  }

  #checkControls(from: number, to: number): void {
    const index = this.#text.slice(from, to).search(CONTROL_CHARACTER);
    if (index !== -1) this.#failOnControl(from + index);
  }

  /** Reads the escape whose backslash is at `at` and answers the position behind it. */
  #readEscape(at: number): number {
    this.#escaped = true;
    const code = this.#text.charCodeAt(at + 1);
    if (Number.isNaN(code)) this.#failAtEnd();
    if (code === LOWER_U) return this.#readUnicodeEscape(at);
    if (!SIMPLE_ESCAPES.has(code)) this.#fail('invalid escape', at + 2);
    return at + 2;
  }

  #readUnicodeEscape(at: number): number {
    const unit = this.#readHex(at + 2);
    const end = at + 6;
    if (unit < 0xd800 || unit > 0xdfff) return end;
    if (unit >= 0xdc00) this.#fail('lone leading surrogate in hex escape', end);
    // A leading surrogate means nothing without the trailing one, which must come as an escape too.
    for (const [offset, expected] of [
      [0, BACKSLASH],
      [1, LOWER_U],
    ] as const) {
      const code = this.#text.charCodeAt(end + offset);
      if (Number.isNaN(code)) this.#failAtEnd();
      if (code !== expected) this.#fail('unexpected end of hex escape', end + offset + 1);
    }
    const trailing = this.#readHex(end + 2);
    if (trailing < 0xdc00 || trailing > 0xdfff) this.#fail('lone leading surrogate in hex escape', end + 6);
    return end + 6;
  }

  #readHex(from: number): number {
    if (from + 4 > this.#text.length) this.#failAtEnd();
    const digits = this.#text.slice(from, from + 4);
    if (!HEX_DIGITS.test(digits)) this.#fail('invalid escape', from + 4);
    return Number.parseInt(digits, 16);
  }

  #failOnControl(at: number): never {
    this.#fail('control character (\\u0000-\\u001F) found while parsing a string', at + 1);
  }

  #failAtEnd(): never {
    this.#fail('EOF while parsing a string', this.#text.length);
  }

  #fail(message: string, consumed: number): never {
    throw new JsonSyntaxError(`${message}${locate(this.#text, consumed)}`);
  }
}

/** ` at line L column C` of the place behind the first `consumed` characters. Columns count bytes of UTF-8. */
export function locate(text: string, consumed: number): string {
  const before = text.slice(0, consumed);
  const lineStart = before.lastIndexOf('\n') + 1;
  let line = 1;
  for (let at = before.indexOf('\n'); at !== -1; at = before.indexOf('\n', at + 1)) line++;
  const column = new TextEncoder().encode(before.slice(lineStart)).length;
  return ` at line ${line} column ${column}`;
}
