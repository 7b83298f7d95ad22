// A client that costs as little as possible, so that what is measured is the server. Long messages that carry output or
// the contents of files are counted by their first bytes and thrown away; everything else is parsed.
import { Buffer } from 'node:buffer';

/** How a message ends whose last parameter is an empty string, from inside that string. */
const EMPTY_TAIL = '"}}';
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
  #waiting = new Set();
  #ended;
  /** Bytes of messages that were counted without being parsed. */
  countedBytes = 0;
  countedMessages = 0;

  constructor(wire) {
    this.#wire = wire;
    wire.receive({
      counts: (head, binary) => (binary ? head[0] === BINARY_FRAME : COUNTED.test(head.toString('latin1'))),
      count: (head, tail, length) => this.#count(head, tail, length),
      take: (message, binary) =>
        binary ? this.#count(message, message, message.length) : this.#take(message),
      ended: () => this.#end(new Error('the server ended the connection')),
    });
  }

  /** Performs the handshake. */
  async initialize(extra = {}) {
    const result = await this.call('initialize', { clientName: 'bench', ...extra });
    this.#wire.send('{"method":"initialized","params":{}}');
    return result;
  }

  call(method, params) {
    return this.#ask((id) => this.#wire.send(JSON.stringify({ id, method, params })));
  }

  /** A call whose last member is long text that is already there as bytes. */
  callWithText(method, params, member, text) {
    return this.#ask((id) => {
      const message = JSON.stringify({ id, method, params: { ...params, [member]: '' } });
      const [head, tail] = [message.slice(0, -EMPTY_TAIL.length), EMPTY_TAIL];
      this.#wire.sendPieces([Buffer.from(head), text, Buffer.from(tail)]);
    });
  }

  /** Calls whose messages leave in one write; resolves with the answers, errors among them, once all are there. */
  callTogether(calls) {
    let answers;
    this.#wire.together(() => {
      answers = calls.map(([method, params]) => this.call(method, params));
    });
    return Promise.allSettled(answers);
  }

  /** A call whose params are given as bytes of JSON, however long. */
  callWithBytes(method, params) {
    return this.#ask((id) => {
      const head = Buffer.from(`{"id":${id},"method":${JSON.stringify(method)},"params":`);
      this.#wire.sendLong(Buffer.concat([head, params, Buffer.from('}')]));
    });
  }

  /** Resolves with the params of the first notification that matches. */
  next(method, matches = () => true) {
    const found = new Promise((resolve, reject) => {
      if (this.#ended !== undefined) reject(this.#ended);
      this.#waiting.add({ method, matches, resolve, reject });
    });
    // Whoever asked may have failed with another call by the time this one fails.
    found.catch(() => {});
    return found;
  }

  pause() {
    this.#wire.pause();
  }

  resume() {
    this.#wire.resume();
  }

  close() {
    this.#end(new Error('the connection was closed'));
    this.#wire.close();
  }

  #ask(send) {
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      if (this.#ended !== undefined) throw this.#ended;
      this.#pending.set(id, { resolve, reject });
      send(id);
    });
  }

  /** Nothing comes any more: whoever waits is told so. */
  #end(reason) {
    this.#ended ??= reason;
    for (const { reject } of [...this.#pending.values(), ...this.#waiting]) reject(this.#ended);
    this.#pending.clear();
    this.#waiting.clear();
  }

  #notify(method, params) {
    for (const waiter of this.#waiting) {
      if (waiter.method !== method || !waiter.matches(params)) continue;
      this.#waiting.delete(waiter);
      waiter.resolve(params);
    }
  }

  #take(message) {
    const parsed = JSON.parse(message.toString());
    if (parsed.method !== undefined) {
      this.#notify(parsed.method, parsed.params);
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
      this.#notify(method, { requestId, done: true });
    }
  }
}
