import { JsonSyntaxError, MAX_JSON_DEPTH, MAX_JSON_VALUES } from '@exec-server/protocol';
import { charBytes, decodeJsonString, JsonByteStrings, type StringSpan } from './json-byte-strings.js';
import { type Holder, put } from './json-holder.js';

/** What is read before anybody asks for the time again, in tokens, in bytes of a string, and in spaces. */
const TOKENS_PER_LOOK = 64;
const WINDOW_BYTES = 64 * 1024;

/** Bytes before a problem in which line breaks are looked for. */
const TOKEN_BYTES = 4096;

/** Longest number, in bytes; nobody spells one with a hundredth of it. */
const MAX_NUMBER_BYTES = 64 * 1024;

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
const NEWLINE = 0x0a;

/** What is found instead of a character: the end of the text, or nothing yet. */
const END = -1;
const MORE = -2;

/** A container that is open. */
interface Level {
  readonly holder: Holder;
  readonly isList: boolean;
  /** The member whose value comes next. */
  key: string;
  count: number;
}

/** A string that was found and is not decoded: where it belongs, and where it is. */
export interface LongString extends StringSpan {
  readonly holder: Holder;
  readonly key: string | number;
  /** Names its place for people, such as `params.env.PATH`. */
  readonly place: string;
}

/** What a message may hold. Whatever is beyond is told in `excess`, and not kept. */
export interface ShapeLimits {
  /** Strings of so many bytes are left to the caller, in `longStrings`; an empty one stands in for them. */
  readonly longStringBytes: number;
  /** Most members of one object. */
  readonly objectMembers: number;
  /** Most elements of one list. */
  readonly listElements: number;
}

/**
 * Reads JSON text of valid UTF-8 a piece at a time, because a message of tens of megabytes takes seconds. It refuses what
 * `scanJson` refuses, with the same words, and builds what `JSON.parse` builds.
 */
export class JsonByteReader {
  readonly longStrings: LongString[] = [];
  readonly #bytes: Buffer;
  readonly #limits: ShapeLimits;
  readonly #strings: JsonByteStrings;
  readonly #open: Level[] = [];
  #expects: 'value' | 'first' | 'next' | 'key' | 'colon' | 'end' = 'value';
  #inString: 'no' | 'key' | 'value' = 'no';
  #at = 0;
  #line = 1;
  #lineStart = 0;
  #values = 0;
  #value: unknown;
  #idStart = -1;
  #idEnd = -1;
  #excess: string | undefined;

  constructor(bytes: Buffer, limits: ShapeLimits) {
    this.#bytes = bytes;
    this.#limits = limits;
    this.#strings = new JsonByteStrings(bytes, this.#fail);
  }

  /** What was read, once all of it is. */
  get value(): unknown {
    return this.#value;
  }

  /** Raw text of the top-level member `id`, so that a 64-bit integer keeps its digits. */
  get idText(): string | undefined {
    return this.#idStart === -1 ? undefined : this.#bytes.toString('latin1', this.#idStart, this.#idEnd);
  }

  /** The first thing that is larger than the limits allow, in words. */
  get excess(): string | undefined {
    return this.#excess;
  }

  /** Whether there was nothing but white space. */
  get isBlank(): boolean {
    return this.#values === 0 && this.#at === this.#bytes.length;
  }

  /** Reads on while there is time. True when all is read. Throws `JsonSyntaxError`. */
  read(hasTime: () => boolean): boolean {
    do {
      for (let tokens = 0; tokens < TOKENS_PER_LOOK; tokens++) {
        const from = this.#at;
        if (this.#step()) return true;
        if (this.#at - from >= WINDOW_BYTES) break;
      }
    } while (hasTime());
    return false;
  }

  /** The text of a string that was left to the caller. Throws `JsonSyntaxError`. */
  decode(span: StringSpan): string {
    return decodeJsonString(this.#bytes, span, this.#fail);
  }

  /** One token, or a piece of a long one; true behind the last. */
  #step(): boolean {
    if (this.#inString !== 'no') {
      this.#readString();
      return false;
    }
    const code = this.#skipSpace();
    if (code === MORE) return false;
    switch (this.#expects) {
      case 'value':
        this.#beginValue(code);
        break;
      case 'first':
        this.#readFirst(code, this.#open.at(-1) as Level);
        break;
      case 'next':
        this.#readNext(code, this.#open.at(-1) as Level);
        break;
      case 'key':
        this.#readAfterComma(code, this.#open.at(-1) as Level);
        break;
      case 'colon':
        this.#readColon(code);
        break;
      case 'end':
        if (code !== END) this.#failHere('trailing characters');
        return true;
    }
    return false;
  }

  #beginValue(code: number): void {
    if (code === END) this.#failAtEnd('a value');
    if (this.#values === MAX_JSON_VALUES)
      this.#fail(`JSON-RPC message exceeds the limit of ${MAX_JSON_VALUES} JSON values`, this.#at);
    this.#values += 1;
    if (this.#open.length === 1 && this.#open[0]?.key === 'id' && !this.#open[0].isList)
      this.#idStart = this.#at;
    if (code === OPEN_BRACE || code === OPEN_BRACKET) this.#openContainer(code === OPEN_BRACKET);
    else if (code === QUOTE) this.#beginString('value');
    else if (code === MINUS || isDigit(code)) this.#putValue(this.#readNumber());
    else this.#putValue(this.#readWord(code));
  }

  #openContainer(isList: boolean): void {
    if (this.#open.length === MAX_JSON_DEPTH) this.#failHere('recursion limit exceeded');
    const holder: Holder = isList ? [] : {};
    this.#store(holder);
    this.#open.push({ holder, isList, key: '', count: 0 });
    this.#at += 1;
    this.#expects = 'first';
  }

  #readFirst(code: number, level: Level): void {
    if (code === (level.isList ? CLOSE_BRACKET : CLOSE_BRACE)) {
      this.#close();
      return;
    }
    if (code === END) this.#failAtEnd(level.isList ? 'a list' : 'an object');
    if (level.isList) this.#expects = 'value';
    else this.#beginKey(code);
  }

  #readNext(code: number, level: Level): void {
    if (code === (level.isList ? CLOSE_BRACKET : CLOSE_BRACE)) {
      this.#close();
      return;
    }
    if (code === END) this.#failAtEnd(level.isList ? 'a list' : 'an object');
    if (code !== COMMA) this.#failHere(`expected \`,\` or \`${level.isList ? ']' : '}'}\``);
    this.#at += 1;
    this.#expects = 'key';
  }

  #readAfterComma(code: number, level: Level): void {
    if (code === (level.isList ? CLOSE_BRACKET : CLOSE_BRACE)) this.#failHere('trailing comma');
    if (code === END) this.#failAtEnd('a value');
    if (level.isList) this.#expects = 'value';
    else this.#beginKey(code);
  }

  #beginKey(code: number): void {
    if (code !== QUOTE) this.#failHere('key must be a string');
    this.#beginString('key');
  }

  #readColon(code: number): void {
    if (code === END) this.#failAtEnd('an object');
    if (code !== COLON) this.#failHere('expected `:`');
    this.#at += 1;
    this.#expects = 'value';
  }

  #close(): void {
    this.#open.pop();
    this.#at += 1;
    this.#endValue();
  }

  #beginString(role: 'key' | 'value'): void {
    this.#inString = role;
    this.#at += 1;
    this.#strings.begin(this.#at);
    this.#readString();
  }

  #readString(): void {
    const strings = this.#strings;
    const isFound = strings.find(WINDOW_BYTES);
    this.#at = strings.end;
    if (!isFound) return;
    const role = this.#inString;
    this.#inString = 'no';
    this.#at += 1;
    const isLong = strings.end - strings.start >= this.#limits.longStringBytes;
    if (role === 'key') this.#putKey(isLong ? this.#refuseKey() : strings.decode());
    else this.#putValue(isLong ? this.#keepForLater() : strings.decode());
  }

  #refuseKey(): string {
    this.#excess ??= `${this.#namePlace(this.#open.slice(0, -1))} has a member whose name is longer than ${this.#limits.longStringBytes} bytes`;
    return '';
  }

  /** Whatever stands in for a string that is left to the caller. */
  #keepForLater(): string {
    const { start, end, isEscaped, isPlain } = this.#strings;
    const level = this.#open.at(-1);
    if (level !== undefined && !this.#isFull(level)) {
      const { holder, key, count, isList } = level;
      const place = this.#namePlace();
      this.longStrings.push({ holder, key: isList ? count : key, place, start, end, isEscaped, isPlain });
    }
    return '';
  }

  #putKey(key: string): void {
    const level = this.#open.at(-1) as Level;
    if (Object.hasOwn(level.holder, key)) this.#fail(`duplicate JSON object key \`${key}\``, this.#at);
    level.key = key;
    this.#expects = 'colon';
  }

  #putValue(value: unknown): void {
    this.#store(value);
    this.#endValue();
  }

  #store(value: unknown): void {
    const level = this.#open.at(-1);
    if (level === undefined) {
      this.#value = value;
      return;
    }
    if (!this.#isFull(level)) put(level.holder, level.key, value);
    level.count += 1;
  }

  #isFull({ isList, count }: Level): boolean {
    const limit = isList ? this.#limits.listElements : this.#limits.objectMembers;
    if (count < limit) return false;
    const what = isList ? 'elements' : 'members';
    this.#excess ??= `${this.#namePlace(this.#open.slice(0, -1))} has more than ${limit} ${what}`;
    return true;
  }

  #endValue(): void {
    this.#expects = this.#open.length === 0 ? 'end' : 'next';
    if (this.#open.length === 1 && this.#idStart !== -1 && this.#idEnd === -1) this.#idEnd = this.#at;
  }

  #readNumber(): number {
    const from = this.#at;
    let code = this.#bytes[this.#at];
    if (code === MINUS) code = this.#bytes[++this.#at];
    if (code === ZERO) {
      code = this.#bytes[++this.#at];
      if (isDigit(code)) this.#failHere('invalid number');
    } else {
      code = this.#readDigits(from);
    }
    if (code === DOT) {
      this.#at += 1;
      code = this.#readDigits(from);
    }
    if (code === 0x65 || code === 0x45) {
      code = this.#bytes[++this.#at];
      if (code === MINUS || code === 0x2b) this.#at += 1;
      this.#readDigits(from);
    }
    return Number(this.#bytes.toString('latin1', from, this.#at));
  }

  /** Reads at least one digit of the number that begins at `from`, and answers the code after the last. */
  #readDigits(from: number): number | undefined {
    const first = this.#bytes[this.#at];
    if (first === undefined) this.#failAtEnd('a value');
    if (!isDigit(first)) this.#failHere('invalid number');
    while (isDigit(this.#bytes[this.#at])) {
      this.#at += 1;
      if (this.#at - from > MAX_NUMBER_BYTES) this.#fail('number out of range', this.#at);
    }
    return this.#bytes[this.#at];
  }

  #readWord(code: number): boolean | null {
    const word = code === 0x6e ? 'null' : code === 0x74 ? 'true' : code === 0x66 ? 'false' : undefined;
    if (word === undefined) return this.#failHere('expected value');
    for (let i = 1; i < word.length; i++) {
      this.#at += 1;
      const actual = this.#bytes[this.#at];
      if (actual === undefined) this.#failAtEnd('a value');
      if (actual !== word.charCodeAt(i)) this.#failHere('expected ident');
    }
    this.#at += 1;
    return word === 'null' ? null : word === 'true';
  }

  /** The next byte that is no white space, `END`, or `MORE` when it is not reached yet. */
  #skipSpace(): number {
    const bytes = this.#bytes;
    const stop = Math.min(bytes.length, this.#at + WINDOW_BYTES);
    for (let at = this.#at; at < stop; at++) {
      const code = bytes[at] as number;
      if (code === NEWLINE) {
        this.#line += 1;
        this.#lineStart = at + 1;
      } else if (code !== 0x20 && code !== 0x0d && code !== 0x09) {
        this.#at = at;
        return code;
      }
    }
    this.#at = stop;
    return stop === bytes.length ? END : MORE;
  }

  /** Where the next value goes, in words, or what it goes into. */
  #namePlace(levels = this.#open): string {
    const names = levels.map(({ isList, key, count }, depth) => {
      if (!isList) return `.${key}`;
      return `[${depth === this.#open.length - 1 ? count : count - 1}]`;
    });
    return names.join('').replace(/^\./, '') || 'the message';
  }

  /** Line breaks are white space, but for one that is itself the problem. */
  #countLines(until: number): void {
    const token = this.#bytes.subarray(Math.max(this.#lineStart, until - TOKEN_BYTES), until);
    for (let at = token.indexOf(NEWLINE); at !== -1; at = token.indexOf(NEWLINE, at + 1)) {
      this.#line += 1;
      this.#lineStart = until - token.length + at + 1;
    }
  }

  #failHere(problem: string): never {
    return this.#fail(problem, this.#at + charBytes(this.#bytes[this.#at] ?? 0));
  }

  #failAtEnd(what: string): never {
    return this.#fail(`EOF while parsing ${what}`, this.#bytes.length);
  }

  readonly #fail = (problem: string, consumed: number): never => {
    this.#countLines(consumed);
    throw new JsonSyntaxError(`${problem} at line ${this.#line} column ${consumed - this.#lineStart}`);
  };
}

function isDigit(code: number | undefined): boolean {
  return code !== undefined && code >= ZERO && code <= NINE;
}
