import { JsonSyntaxError, locate, StringScanner } from './json-strings.js';
import { MAX_JSON_DEPTH, MAX_JSON_VALUES } from './limits.js';

export { JsonSyntaxError };

/** What the scan of a message learned beside "it is valid". */
export interface JsonScan {
  /** Raw text of the top-level member `id`, so that a 64-bit integer keeps its digits. */
  readonly idText: string | undefined;
}

export interface JsonScanOptions {
  /**
   * `skip` leaves control characters in long strings to the parser that runs next, because looking at each character
   * of a large payload costs more than all the rest. @default 'check'
   */
  readonly longStrings?: 'check' | 'skip';
}

/** Objects with more keys than this look for duplicates in a set instead of a list. */
const MAX_LISTED_KEYS = 8;

const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const DOT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/**
 * Checks JSON text without building anything and without recursion, so that hostile text costs no memory and no stack
 * before it is refused. On top of the grammar it refuses duplicate keys, lone surrogates in escapes, more than
 * {@link MAX_JSON_DEPTH} levels and more than {@link MAX_JSON_VALUES} values.
 *
 * @throws JsonSyntaxError
 */
export function scanJson(text: string, options: JsonScanOptions = {}): JsonScan {
  return new JsonScanner(text, options.longStrings !== 'skip').scan();
}

class JsonScanner {
  readonly #text: string;
  readonly #strings: StringScanner;
  #position = 0;
  #values = 0;
  /** One entry per open container: the keys of an object so far, or null for an array. */
  readonly #open: (KeySet | null)[] = [];
  #idStart = -1;
  #idEnd = -1;

  constructor(text: string, checkLongStrings: boolean) {
    this.#text = text;
    this.#strings = new StringScanner(text, checkLongStrings);
  }

  scan(): JsonScan {
    // `opened` says that the value just read is a container whose first member comes next.
    let opened = this.#readValue();
    while (true) {
      const more = opened ? this.#readFirstMember() : this.#open.length > 0 && this.#readNextMember();
      if (!more && this.#open.length === 0) break;
      opened = more && this.#readValue();
    }
    if (!Number.isNaN(this.#skipSpace())) this.#failHere('trailing characters');
    return { idText: this.#idStart === -1 ? undefined : this.#text.slice(this.#idStart, this.#idEnd) };
  }

  /** Reads a scalar, or opens a container and answers true. */
  #readValue(): boolean {
    const code = this.#skipSpace();
    if (Number.isNaN(code)) this.#failAtEnd('a value');
    const start = this.#position;
    if (this.#values === MAX_JSON_VALUES) {
      this.#fail(`JSON-RPC message exceeds the limit of ${MAX_JSON_VALUES} JSON values`, start);
    }
    this.#values++;
    if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      if (this.#open.length === MAX_JSON_DEPTH) this.#failHere('recursion limit exceeded');
      this.#open.push(code === OPEN_BRACE ? new KeySet() : null);
      this.#position++;
      return true;
    }
    if (code === QUOTE) this.#position = this.#strings.read(start);
    else if (code === MINUS || isDigit(code)) this.#readNumber(code);
    else this.#readWord(code);
    return false;
  }

  /** After an opening bracket: stands before the first value and answers true, or closes the empty container. */
  #readFirstMember(): boolean {
    const keys = this.#open.at(-1) as KeySet | null;
    const code = this.#skipSpace();
    if (code === (keys === null ? CLOSE_BRACKET : CLOSE_BRACE)) {
      this.#close();
      return false;
    }
    if (Number.isNaN(code)) this.#failAtEnd(keys === null ? 'a list' : 'an object');
    if (keys !== null) this.#readKey(keys, code);
    return true;
  }

  /** After a value in a container: stands before the next value and answers true, or closes the container. */
  #readNextMember(): boolean {
    const keys = this.#open.at(-1) as KeySet | null;
    const closing = keys === null ? CLOSE_BRACKET : CLOSE_BRACE;
    if (this.#open.length === 1 && this.#idStart !== -1 && this.#idEnd === -1) this.#idEnd = this.#position;
    const code = this.#skipSpace();
    if (code === closing) {
      this.#close();
      return false;
    }
    if (Number.isNaN(code)) this.#failAtEnd(keys === null ? 'a list' : 'an object');
    if (code !== COMMA) this.#failHere(`expected \`,\` or \`${keys === null ? ']' : '}'}\``);
    this.#position++;
    const next = this.#skipSpace();
    if (next === closing) this.#failHere('trailing comma');
    if (Number.isNaN(next)) this.#failAtEnd('a value');
    if (keys !== null) this.#readKey(keys, next);
    return true;
  }

  #readKey(keys: KeySet, code: number): void {
    if (code !== QUOTE) this.#failHere('key must be a string');
    const start = this.#position;
    this.#position = this.#strings.read(start);
    const key = this.#strings.decode(start, this.#position);
    if (!keys.add(key)) this.#fail(`duplicate JSON object key \`${key}\``, this.#position);
    const colon = this.#skipSpace();
    if (Number.isNaN(colon)) this.#failAtEnd('an object');
    if (colon !== COLON) this.#failHere('expected `:`');
    this.#position++;
    if (this.#open.length === 1 && key === 'id') {
      this.#skipSpace();
      this.#idStart = this.#position;
    }
  }

  #close(): void {
    this.#open.pop();
    this.#position++;
  }

  #readNumber(first: number): void {
    let code = first;
    if (code === MINUS) code = this.#advance();
    if (code === ZERO) {
      code = this.#advance();
      if (isDigit(code)) this.#failHere('invalid number');
    } else {
      code = this.#readDigits(code);
    }
    if (code === DOT) code = this.#readDigits(this.#advance());
    if (code === 0x65 || code === 0x45) {
      code = this.#advance();
      if (code === MINUS || code === 0x2b) code = this.#advance();
      this.#readDigits(code);
    }
  }

  /** Reads at least one digit and answers the code after the last. */
  #readDigits(first: number): number {
    if (Number.isNaN(first)) this.#failAtEnd('a value');
    if (!isDigit(first)) this.#failHere('invalid number');
    let code = first;
    while (isDigit(code)) code = this.#advance();
    return code;
  }

  #readWord(code: number): void {
    const word = code === 0x6e ? 'null' : code === 0x74 ? 'true' : code === 0x66 ? 'false' : undefined;
    if (word === undefined) this.#failHere('expected value');
    else if (this.#text.startsWith(word, this.#position)) {
      this.#position += word.length;
      return;
    }
    for (let i = 1; ; i++) {
      const actual = this.#advance();
      if (Number.isNaN(actual)) this.#failAtEnd('a value');
      if (actual !== word.charCodeAt(i)) this.#failHere('expected ident');
    }
  }

  /** Moves one character on and answers its code, NaN at the end. */
  #advance(): number {
    this.#position++;
    return this.#text.charCodeAt(this.#position);
  }

  /** Moves to the next character that is no white space and answers its code, NaN at the end. */
  #skipSpace(): number {
    let code = this.#text.charCodeAt(this.#position);
    while (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) code = this.#advance();
    return code;
  }

  #failHere(message: string): never {
    this.#fail(message, this.#position + 1);
  }

  #failAtEnd(what: string): never {
    this.#fail(`EOF while parsing ${what}`, this.#text.length);
  }

  #fail(message: string, consumed: number): never {
    throw new JsonSyntaxError(`${message}${locate(this.#text, consumed)}`);
  }
}

/** The keys of one object. Most objects are small, and a short list is far cheaper than a set. */
class KeySet {
  readonly #list: string[] = [];
  #set: Set<string> | undefined;

  /** Answers false when the key is already there. */
  add(key: string): boolean {
    if (this.#set !== undefined) {
      const before = this.#set.size;
      return this.#set.add(key).size > before;
    }
    if (this.#list.includes(key)) return false;
    this.#list.push(key);
    if (this.#list.length > MAX_LISTED_KEYS) this.#set = new Set(this.#list);
    return true;
  }
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE;
}
