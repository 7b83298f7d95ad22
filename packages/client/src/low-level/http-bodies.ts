import { decodeBase64, MAX_HTTP_DELTA_BYTES, type NotificationParams } from '@exec-server/protocol';
import type { ExecServerError } from '../errors.js';
import { HttpBody, MAX_QUEUED_BODY_BYTES, MAX_QUEUED_DELTAS, type SharedQueue } from './http-body.js';

/** What bodies need of their client. */
export interface HttpBodiesHost {
  /** Whether the connection waits for slow readers, so that their bodies do not overflow. */
  readonly pausesForSlowReaders: boolean;
  holdInput(holder: object): void;
  releaseInput(holder: object): void;
  /** Tells the server that nobody wants the rest, where it can be told. */
  cancelRequest(requestId: string): void;
}

/** The bodies that stream over the present connection, by the id of their request. */
export class HttpBodies {
  readonly #host: HttpBodiesHost;
  readonly #bodies = new Map<string, HttpBody>();
  readonly #shared: SharedQueue = { bytes: 0 };
  #lastId = 0;

  constructor(host: HttpBodiesHost) {
    this.#host = host;
  }

  /** An id that no other request of this client has. */
  nextRequestId(): string {
    return `http-${++this.#lastId}`;
  }

  /** Takes the body of a request from now on. */
  open(requestId: string): HttpBody {
    const body = new HttpBody(
      this.#shared,
      () => this.#holdWhileFull(),
      () => {
        this.#bodies.delete(requestId);
        this.#host.cancelRequest(requestId);
      },
    );
    this.#bodies.set(requestId, body);
    return body;
  }

  /** The request has failed: there will be no body. */
  discard(requestId: string): void {
    this.#bodies.delete(requestId);
  }

  /**
   * Takes a piece of a body; pieces of bodies that nobody waits for are ignored.
   *
   * @returns what is wrong with the server that sends such a piece
   */
  take(delta: NotificationParams<'http/request/bodyDelta'>): string | undefined {
    const { requestId, seq, done, error } = delta;
    const data = decodeBase64(delta.deltaBase64);
    if (data.length > MAX_HTTP_DELTA_BYTES)
      return `body delta of ${data.length} bytes exceeds ${MAX_HTTP_DELTA_BYTES}`;
    const body = this.#bodies.get(requestId);
    if (body === undefined) return undefined;
    body.push({ seq, data, done, error });
    if (!body.isOver) return undefined;
    this.#bodies.delete(requestId);
    // One that ended before the server said so still comes.
    if (!done) this.#host.cancelRequest(requestId);
    return undefined;
  }

  /** The connection is gone, and every body with it. */
  failAll(error: ExecServerError): void {
    for (const body of this.#bodies.values()) body.fail(error);
    this.#bodies.clear();
  }

  #holdWhileFull(): void {
    if (!this.#host.pausesForSlowReaders) return;
    const isFull =
      this.#shared.bytes > MAX_QUEUED_BODY_BYTES / 2 ||
      [...this.#bodies.values()].some(({ queuedDeltas }) => queuedDeltas > MAX_QUEUED_DELTAS / 2);
    if (isFull) this.#host.holdInput(this);
    else this.#host.releaseInput(this);
  }
}
