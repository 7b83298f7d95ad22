import {
  decodeBase64,
  MAX_HTTP_DELTA_BYTES,
  type NotificationParams,
  type ParamsOf,
  type ResultOf,
} from '@exec-server/protocol';
import type { ExecServerError } from '../errors.js';
import type { SessionCallOptions, SessionClient } from '../session-client.js';
import { HttpBody, MAX_QUEUED_BODY_BYTES, MAX_QUEUED_DELTAS, type SharedQueue } from './http-body.js';
import type { InputHolding } from './input-holding.js';

/** What an HTTP request says, without what the client fills in. */
export type HttpRequest = Omit<ParamsOf<'http/request'>, 'requestId' | 'streamResponse'>;

/** The head of a response, and its body as it comes. */
export interface HttpResponseStream extends Pick<ResultOf<'http/request'>, 'status' | 'headers'> {
  /** The body. Ending the iteration early cancels the request, where the server can do that. */
  readonly body: AsyncIterableIterator<Uint8Array>;
}

/** What requests need of their client. */
export type HttpRequestsHost = InputHolding & Pick<SessionClient, 'call' | 'supports'>;

/** HTTP requests of one client, with the bodies that stream over the present connection. */
export class HttpRequests {
  readonly #host: HttpRequestsHost;
  /** By the id of the request. */
  readonly #bodies = new Map<string, HttpBody>();
  readonly #shared: SharedQueue = { bytes: 0 };
  #lastId = 0;

  constructor(host: HttpRequestsHost) {
    this.#host = host;
  }

  /** Resolves with the whole response. */
  request(request: HttpRequest, options: SessionCallOptions): Promise<ResultOf<'http/request'>> {
    return this.#send({ ...request, requestId: this.#nextId(), streamResponse: false }, options);
  }

  /** Resolves with the head of the response. */
  async stream(request: HttpRequest, options: SessionCallOptions): Promise<HttpResponseStream> {
    const requestId = this.#nextId();
    const body = this.#open(requestId);
    try {
      const { status, headers } = await this.#send({ ...request, requestId, streamResponse: true }, options);
      return { status, headers, body };
    } catch (error) {
      this.#bodies.delete(requestId);
      throw error;
    }
  }

  /**
   * Takes a piece of a body; pieces of bodies that nobody waits for are ignored.
   *
   * @returns what is wrong with the server that sends such a piece
   */
  takeDelta(delta: NotificationParams<'http/request/bodyDelta'>): string | undefined {
    const { requestId, seq, done, error } = delta;
    const data = decodeBase64(delta.deltaBase64);
    if (data.length > MAX_HTTP_DELTA_BYTES)
      return `body delta of ${data.length} bytes exceeds ${MAX_HTTP_DELTA_BYTES}`;
    const body = this.#bodies.get(requestId);
    body?.push({ seq, data, done, error });
    if (body?.isOver) {
      this.#bodies.delete(requestId);
      // One that failed before the server said so would still come.
      if (!done) void this.#cancel(requestId);
    }
    return undefined;
  }

  /** The connection is gone, and every body with it. */
  failBodies(error: ExecServerError): void {
    for (const body of this.#bodies.values()) body.fail(error);
    this.#bodies.clear();
  }

  /** An id that no other request of this client has. */
  #nextId(): string {
    return `http-${++this.#lastId}`;
  }

  #open(requestId: string): HttpBody {
    const body = new HttpBody(this.#shared, {
      onQueueChange: () => this.#holdWhileFull(),
      onCancel: () => {
        this.#bodies.delete(requestId);
        void this.#cancel(requestId);
      },
    });
    this.#bodies.set(requestId, body);
    return body;
  }

  async #send(
    params: ParamsOf<'http/request'>,
    options: SessionCallOptions,
  ): Promise<ResultOf<'http/request'>> {
    try {
      return await this.#host.call('http/request', params, options);
    } catch (error) {
      if (options.signal?.aborted) void this.#cancel(params.requestId);
      throw error;
    }
  }

  /** As well as it can be done: who cancels does not wait for it. */
  async #cancel(requestId: string): Promise<void> {
    try {
      if (await this.#host.supports('httpCancel')) await this.#host.call('http/cancel', { requestId });
    } catch {
      // The request ends with its connection in any case.
    }
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
