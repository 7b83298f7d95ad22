import type { Clock, ClockTimer } from '../clock.js';
import type { ConnectionResource } from '../dialects/dialect.js';
import { HttpError } from './http-error.js';

export interface ActiveRequestOptions {
  readonly requestId: string;
  /** Whether the body comes in pieces under the id, which must be unique then. */
  readonly streamed: boolean;
  /** Limit for head and body together, in milliseconds. @default none */
  readonly timeoutMs?: number | undefined;
  readonly clock: Clock;
}

/** What the requests of one connection may take together. */
export interface HttpLimits {
  /** Requests that run at once, those included whose body is still streaming. */
  readonly httpRequests: number;
  /** Bytes of bodies that are collected or not yet answered with. */
  readonly httpBufferedBytes: number;
}

/** The HTTP requests of one connection that are not over yet. */
export class ActiveRequests implements ConnectionResource {
  readonly #active = new Set<ActiveRequest>();
  #closed = false;
  #bufferedBytes = 0;

  /** Takes a request on. Throws an {@link HttpError}. Whoever calls it calls `end` as well. */
  begin(options: ActiveRequestOptions, limits: HttpLimits): ActiveRequest {
    const { requestId, streamed } = options;
    if (options.timeoutMs === 0) throw new HttpError('no-response', 'route-aware request timed out');
    if (streamed && this.#find(requestId).some((request) => request.streamed))
      throw new HttpError('refused', `streamResponse requestId \`${requestId}\` is already active`);
    if (this.#active.size >= limits.httpRequests)
      throw new HttpError(
        'overloaded',
        `more than ${limits.httpRequests} requests at once on this connection`,
      );
    const request = new ActiveRequest(options, {
      buffer: (bytes) => this.#buffer(bytes, limits.httpBufferedBytes),
      end: (bufferedBytes) => {
        this.#bufferedBytes -= bufferedBytes;
        this.#active.delete(request);
      },
    });
    this.#active.add(request);
    if (this.#closed) request.cancel();
    return request;
  }

  /** Ends the requests with that id. False when there is none. */
  cancel(requestId: string): boolean {
    const requests = this.#find(requestId);
    for (const request of requests) request.cancel();
    return requests.length > 0;
  }

  close(): void {
    this.#closed = true;
    for (const request of this.#active) request.cancel();
  }

  #find(requestId: string): ActiveRequest[] {
    return [...this.#active].filter((request) => request.requestId === requestId);
  }

  #buffer(bytes: number, limit: number): void {
    if (this.#bufferedBytes + bytes > limit)
      throw new HttpError('body-too-large', `response bodies exceed the limit of ${limit} buffered bytes`);
    this.#bufferedBytes += bytes;
  }
}

interface Owner {
  buffer(bytes: number): void;
  end(bufferedBytes: number): void;
}

/** One request from its start to the last byte of its body. */
export class ActiveRequest {
  readonly requestId: string;
  readonly streamed: boolean;
  readonly #owner: Owner;
  readonly #abort = new AbortController();
  readonly #timer: ClockTimer | undefined;
  #bufferedBytes = 0;
  #ended = false;

  constructor({ requestId, streamed, timeoutMs, clock }: ActiveRequestOptions, owner: Owner) {
    this.requestId = requestId;
    this.streamed = streamed;
    this.#owner = owner;
    if (timeoutMs !== undefined)
      this.#timer = clock.after(timeoutMs, () => this.#abort.abort(new Error('the time is up')));
  }

  /** Aborts when the request is cancelled or its time is up. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  cancel(): void {
    this.#abort.abort(new HttpError('cancelled', 'request cancelled'));
  }

  /** Accounts for bytes that are kept until the end. Throws an {@link HttpError} when they are too many. */
  buffer(bytes: number): void {
    this.#owner.buffer(bytes);
    this.#bufferedBytes += bytes;
  }

  /** Frees the id and what was accounted for, and ends whatever still runs. May be called again. */
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#timer?.cancel();
    this.#owner.end(this.#bufferedBytes);
    this.#abort.abort(new Error('the request is over'));
  }
}
