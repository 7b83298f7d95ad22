// A client that costs as little as possible, so that what is measured is the server. Big messages of output are
// counted by their first bytes and thrown away; everything else is parsed.
import { Buffer } from 'node:buffer';

const OUTPUT_PREFIX = Buffer.from('{"method":"process/output"');
const BODY_PREFIX = Buffer.from('{"method":"http/request/bodyDelta"');
const DONE_MARK = Buffer.from('"done":true');

/** Messages of output longer than this are counted, not parsed. */
const PARSE_LIMIT_BYTES = 2048;

/** First byte of a binary output frame; no JSON text starts with it. */
const BINARY_FRAME = 0x01;

/** @param {{ send(text: string): void, onMessage(take: (message: Buffer, binary: boolean) => void): void, pause(): void, resume(): void, close(): void }} wire */
export class LeanClient {
  #wire;
  #nextId = 1;
  #pending = new Map();
  #listeners = new Set();
  /** Bytes of messages of output that were counted without being parsed. */
  countedBytes = 0;
  countedMessages = 0;

  constructor(wire) {
    this.#wire = wire;
    wire.onMessage((message, binary) => this.#take(message, binary));
  }

  /** Performs the handshake. */
  async initialize(extra = {}) {
    const result = await this.call('initialize', { clientName: 'bench', ...extra });
    this.#wire.send('{"method":"initialized","params":{}}');
    return result;
  }

  call(method, params) {
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      this.#wire.send(JSON.stringify({ id, method, params }));
    });
  }

  /** Resolves with the params of the first notification that matches. */
  next(method, matches = () => true) {
    return new Promise((resolve) => {
      const stop = this.listen((name, params) => {
        if (name !== method || !matches(params)) return;
        stop();
        resolve(params);
      });
    });
  }

  listen(listener) {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  pause() {
    this.#wire.pause();
  }

  resume() {
    this.#wire.resume();
  }

  close() {
    this.#wire.close();
  }

  #take(message, binary) {
    if (binary && message[0] === BINARY_FRAME) {
      this.#count(message);
      return;
    }
    if (message.length > PARSE_LIMIT_BYTES) {
      if (startsWith(message, OUTPUT_PREFIX)) return this.#count(message);
      // The last delta has to be seen; its mark stands near the end of the message.
      if (startsWith(message, BODY_PREFIX) && message.indexOf(DONE_MARK, message.length - 256) < 0)
        return this.#count(message);
    }
    const parsed = JSON.parse(message.toString('latin1'));
    if (parsed.method !== undefined) {
      for (const listener of this.#listeners) listener(parsed.method, parsed.params);
      return;
    }
    const call = this.#pending.get(parsed.id);
    this.#pending.delete(parsed.id);
    if (parsed.error === undefined) call?.resolve(parsed.result);
    else call?.reject(new Error(`${parsed.error.code}: ${parsed.error.message}`));
  }

  #count(message) {
    this.countedBytes += message.length;
    this.countedMessages += 1;
  }
}

function startsWith(message, prefix) {
  return message.length >= prefix.length && message.compare(prefix, 0, prefix.length, 0, prefix.length) === 0;
}
