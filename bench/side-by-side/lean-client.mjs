// A client that costs as little as possible, so that what is measured is the server. Long messages that carry output or
// the contents of files are counted by their first bytes and thrown away; everything else is parsed.
import { Buffer } from 'node:buffer';

const DONE_MARK = '"done":true';

/** First byte of a binary output frame; no JSON text starts with it. */
const BINARY_FRAME = 0x01;

/**
 * What a long message is, by its beginning: output, a part of a body, or the answer with a file's contents. Both servers
 * spell the members in this order.
 */
const COUNTED =
  /^\{(?:"method":"(process\/output|http\/request\/bodyDelta)"|"id":(\d+),"result":\{"dataBase64":)/;

/** @param wire one of `wires.mjs` */
export class LeanClient {
  #wire;
  #nextId = 1;
  #pending = new Map();
  #listeners = new Set();
  /** Bytes of messages that were counted without being parsed. */
  countedBytes = 0;
  countedMessages = 0;

  constructor(wire) {
    this.#wire = wire;
    wire.receive({
      counts: (head, binary) => (binary ? head[0] === BINARY_FRAME : COUNTED.test(head.toString('latin1'))),
      count: (head, tail, length) => this.#count(head, tail, length),
      take: (message) => this.#take(message),
    });
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

  /** A call whose last member is long text that is already there as bytes. */
  callWithText(method, params, member, text) {
    const id = this.#nextId++;
    const head = JSON.stringify({ id, method, params: { ...params, [member]: '' } });
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      this.#wire.sendPieces([Buffer.from(head.slice(0, -3)), text, Buffer.from(head.slice(-3))]);
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

  #take(message) {
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

  #count(head, tail, length) {
    this.countedBytes += length;
    this.countedMessages += 1;
    if (head[0] === BINARY_FRAME) return;
    const beginning = head.toString('latin1');
    const [, method, id] = COUNTED.exec(beginning);
    if (id !== undefined) {
      this.#pending.get(Number(id))?.resolve();
      this.#pending.delete(Number(id));
    } else if (method === 'http/request/bodyDelta' && tail.includes(DONE_MARK)) {
      const requestId = /"requestId":"([^"]*)"/.exec(beginning)?.[1];
      for (const listener of this.#listeners) listener(method, { requestId, done: true });
    }
  }
}
