import { ExecServerError } from '../errors.js';

/** Most pieces of one body that wait to be taken. */
export const MAX_QUEUED_DELTAS = 256;

/** Most bytes that wait to be taken, of all bodies of one connection. */
export const MAX_QUEUED_BODY_BYTES = 16 * 1024 * 1024;

/** A piece of a body as it came. */
export interface BodyDelta {
  readonly seq: number;
  readonly data: Uint8Array;
  readonly done: boolean;
  readonly error: string | null;
}

/** What a body tells whoever opened it. */
export interface BodyListener {
  /** There is more or less to be taken than before. */
  onQueueChange(): void;
  /** Its reader is no longer interested, before the end has come. */
  onCancel(): void;
}

/** Bytes that wait in all bodies of one connection. */
export interface SharedQueue {
  bytes: number;
}

/** How a body ended. */
interface BodyEnd {
  /** Absent for a body that is complete. */
  readonly error?: ExecServerError;
}

/** The body of one streamed response: pieces in order, then the end or an error. */
export class HttpBody implements AsyncIterableIterator<Uint8Array> {
  readonly #shared: SharedQueue;
  readonly #listener: BodyListener;
  #queue: Uint8Array[] = [];
  #queuedBytes = 0;
  #lastSeq = 0;
  #end: BodyEnd | undefined;
  #cancelled = false;
  #wake: (() => void) | undefined;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(shared: SharedQueue, listener: BodyListener) {
    this.#shared = shared;
    this.#listener = listener;
  }

  /** Whether nothing more can come. */
  get isOver(): boolean {
    return this.#end !== undefined || this.#cancelled;
  }

  /** Pieces that wait to be taken. */
  get queuedDeltas(): number {
    return this.#queue.length;
  }

  next(): Promise<IteratorResult<Uint8Array>> {
    const turn = this.#turn.then(() => this.#next());
    this.#turn = turn.catch(() => {});
    return turn;
  }

  return(): Promise<IteratorResult<Uint8Array>> {
    const wasOpen = !this.isOver;
    this.#cancelled = true;
    this.#drop();
    if (wasOpen) this.#listener.onCancel();
    this.#wakeReader();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Takes the next piece. One that does not fit, or is not the next, fails this body and no other. */
  push({ seq, data, done, error }: BodyDelta): void {
    if (this.isOver) return;
    if (seq !== this.#lastSeq + 1) {
      const text = `body delta ${seq} came after ${this.#lastSeq}`;
      this.fail(new ExecServerError('protocol', text));
      return;
    }
    this.#lastSeq = seq;
    if (data.length > 0 && !this.#enqueue(data)) return;
    if (error !== null) this.fail(new ExecServerError('http', error));
    else if (done) this.#finish({});
  }

  /** Ends it with an error behind the pieces that have come. The first reason stays. */
  fail(error: ExecServerError): void {
    if (!this.isOver) this.#finish({ error });
  }

  #enqueue(data: Uint8Array): boolean {
    if (this.#queue.length >= MAX_QUEUED_DELTAS) {
      this.fail(new ExecServerError('http', 'body delta channel filled before delivery'));
      return false;
    }
    if (this.#shared.bytes + data.length > MAX_QUEUED_BODY_BYTES) {
      const text = `queued body deltas exceed ${MAX_QUEUED_BODY_BYTES} bytes`;
      this.fail(new ExecServerError('http', text));
      return false;
    }
    this.#queue.push(data);
    this.#queuedBytes += data.length;
    this.#shared.bytes += data.length;
    this.#listener.onQueueChange();
    this.#wakeReader();
    return true;
  }

  async #next(): Promise<IteratorResult<Uint8Array>> {
    for (;;) {
      if (this.#cancelled) return { done: true, value: undefined };
      const data = this.#queue.shift();
      if (data !== undefined) return this.#take(data);
      if (this.#end?.error !== undefined) {
        const { error } = this.#end;
        this.#end = {};
        throw error;
      }
      if (this.#end !== undefined) return { done: true, value: undefined };
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  #take(data: Uint8Array): IteratorResult<Uint8Array> {
    this.#queuedBytes -= data.length;
    this.#shared.bytes -= data.length;
    this.#listener.onQueueChange();
    return { done: false, value: data };
  }

  #finish(end: BodyEnd): void {
    this.#end = end;
    this.#wakeReader();
  }

  #drop(): void {
    this.#shared.bytes -= this.#queuedBytes;
    this.#queue = [];
    this.#queuedBytes = 0;
    this.#listener.onQueueChange();
  }

  #wakeReader(): void {
    this.#wake?.();
    this.#wake = undefined;
  }
}
