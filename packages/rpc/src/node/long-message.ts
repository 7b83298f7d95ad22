import {
  interpretMessage,
  JsonSyntaxError,
  MAX_LIST_ELEMENTS,
  MAX_OBJECT_MEMBERS,
  MAX_TEXT_BYTES,
  MalformedMessageError,
  type Message,
} from '@exec-server/protocol';
import type { LongMessageReader } from '../peer-options.js';
import { ContentDecoder } from './content-decoder.js';
import { JsonByteReader, type LongString } from './json-byte-reader.js';

/** Strings from this size on, in bytes, may be content, and are looked at one by one. */
const LONG_STRING_BYTES = 32 * 1024;

/**
 * Largest string in the place of bytes that is no base64 and yet kept, in bytes: whoever handles the request says what is
 * wrong with it.
 */
const MAX_BROKEN_CONTENT_BYTES = 4 * 1024 * 1024;

/** Which members of the params of a request carry bytes in base64, by its method. */
export type ContentMembers = Readonly<Record<string, readonly string[]>>;

/**
 * Reads one long message a piece at a time, given as valid UTF-8. Bytes that a request carries in base64 are decoded from
 * where they stand; read like every message they would be copied into a string, and again by the parser.
 */
export class LongMessage implements LongMessageReader {
  readonly #bytes: Buffer;
  readonly #contentMembers: ContentMembers;
  readonly #json: JsonByteReader;
  #isParsed = false;
  #nextString = 0;
  #decoder: ContentDecoder | undefined;
  #content: Buffer<ArrayBuffer> | undefined;
  #excess: string | undefined;

  constructor(bytes: Uint8Array, contentMembers: ContentMembers) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#contentMembers = contentMembers;
    this.#json = new JsonByteReader(this.#bytes, {
      longStringBytes: LONG_STRING_BYTES,
      objectMembers: MAX_OBJECT_MEMBERS,
      listElements: MAX_LIST_ELEMENTS,
    });
  }

  /** Whether there was nothing but white space. */
  get isBlank(): boolean {
    return this.#json.isBlank;
  }

  /** Goes on while there is time. The message once all of it is read. Throws `MalformedMessageError`. */
  read(hasTime: () => boolean): Message | undefined {
    try {
      return this.#read(hasTime);
    } catch (error) {
      if (!(error instanceof JsonSyntaxError)) throw error;
      throw new MalformedMessageError(error.message, { cause: error });
    }
  }

  #read(hasTime: () => boolean): Message | undefined {
    this.#isParsed ||= this.#json.read(hasTime);
    if (!this.#isParsed || !this.#resolveStrings(hasTime)) return undefined;
    const message = interpretMessage(this.#json.value, this.#json.idText);
    const excess = this.#json.excess ?? this.#excess;
    if (message.kind === 'request')
      return { ...message, ...(this.#content && { content: this.#content }), ...(excess && { excess }) };
    if (excess !== undefined) throw new MalformedMessageError(excess);
    return message;
  }

  /** False when some are left. */
  #resolveStrings(hasTime: () => boolean): boolean {
    const { longStrings } = this.#json;
    while (this.#nextString < longStrings.length) {
      const string = longStrings[this.#nextString] as LongString;
      if (this.#isContent(string)) {
        if (!this.#decodeContent(string, hasTime)) return false;
      } else this.#decodeText(string);
      this.#nextString += 1;
      if (this.#nextString < longStrings.length && !hasTime()) return false;
    }
    return true;
  }

  #isContent({ holder, key }: LongString): boolean {
    const { id, method, params } = this.#json.value as Record<string, unknown>;
    if (this.#content !== undefined || id === undefined || typeof method !== 'string') return false;
    if (holder !== params || typeof key !== 'string' || !Object.hasOwn(this.#contentMembers, method))
      return false;
    const members = this.#contentMembers[method] ?? [];
    // A method of several dialects has several names for it. Of a request that has two of them nobody can tell which.
    return (
      members.includes(key) && members.every((member) => member === key || !Object.hasOwn(holder, member))
    );
  }

  #decodeContent(string: LongString, hasTime: () => boolean): boolean {
    this.#decoder ??= new ContentDecoder(string);
    const content = this.#decoder.read(this.#bytes, hasTime);
    if (content === undefined) return false;
    this.#decoder = undefined;
    if (content === null) this.#decodeText(string, MAX_BROKEN_CONTENT_BYTES);
    else this.#content = content;
    return true;
  }

  #decodeText(string: LongString, maxBytes = MAX_TEXT_BYTES): void {
    const { holder, key, start, end, place } = string;
    if (end - start > maxBytes) this.#excess ??= `${place} is a string of more than ${maxBytes} bytes`;
    else Object.defineProperty(holder, key, { ...DATA_PROPERTY, value: this.#json.decode(string) });
  }
}

/** `__proto__` is a member like any other. */
const DATA_PROPERTY = { configurable: true, enumerable: true, writable: true };
