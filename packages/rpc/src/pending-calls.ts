import type { RequestId, TraceContext } from '@exec-server/protocol';
import { addAbortListener, removeAbortListener } from './abort-listeners.js';
import { CallTimeoutError, PendingCallLimitError } from './errors.js';

/** Longest delay the platform's timers take; a longer one would fire at once. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** How one call may end before it is answered. */
export interface CallOptions {
  /** Time for the answer, in milliseconds. @default no limit */
  readonly timeoutMs?: number;
  /** Gives the call up; it then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** W3C trace context that the request is sent with. */
  readonly trace?: TraceContext;
  /** Takes no place among the calls that may be pending at once: for what the connection itself needs. @default false */
  readonly exempt?: boolean;
}

interface PendingCall {
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

/** Calls that were sent and not answered yet, and the ids they were sent under: 1, 2, 3 and so on. */
export class PendingCalls {
  readonly #limit: number;
  readonly #calls = new Map<RequestId, PendingCall>();
  #lastId = 0;
  #answeredCount = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#calls.size;
  }

  /** Calls without an answer, also those that nobody waits for any more: the other side may still be at them. */
  get unansweredCount(): number {
    return Math.max(0, this.#lastId - this.#answeredCount);
  }

  /**
   * Registers a call, lets `send` put it on the wire, and settles with its answer. Whatever settles it first wins;
   * an answer that comes later finds no call.
   */
  async run(method: string, options: CallOptions, send: (id: number) => void): Promise<unknown> {
    const { timeoutMs, signal, exempt = false } = options;
    signal?.throwIfAborted();
    if (timeoutMs !== undefined && !(timeoutMs >= 0)) throw new RangeError(`invalid timeoutMs: ${timeoutMs}`);
    if (!exempt && this.#calls.size >= this.#limit) throw new PendingCallLimitError(this.#limit);

    const id = ++this.#lastId;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let onAbort: (() => void) | undefined;
    try {
      return await new Promise((resolve, reject) => {
        this.#calls.set(id, { resolve, reject });
        onAbort = () => reject(signal?.reason);
        addAbortListener(signal, onAbort);
        if (timeoutMs !== undefined) {
          const onTimeout = () => reject(new CallTimeoutError(method, timeoutMs));
          timer = setTimeout(onTimeout, Math.min(timeoutMs, MAX_TIMER_MS));
        }
        send(id);
      });
    } finally {
      this.#calls.delete(id);
      clearTimeout(timer);
      if (onAbort !== undefined) removeAbortListener(signal, onAbort);
    }
  }

  /** False when no call waits under `id`. */
  resolve(id: RequestId, result: unknown): boolean {
    const call = this.#take(id);
    call?.resolve(result);
    return call !== undefined;
  }

  /** False when no call waits under `id`. */
  reject(id: RequestId, error: unknown): boolean {
    const call = this.#take(id);
    call?.reject(error);
    return call !== undefined;
  }

  /** Whether a call was ever made under `id`, settled or not. */
  wasIssued(id: RequestId): boolean {
    return typeof id === 'number' && id >= 1 && id <= this.#lastId;
  }

  rejectAll(error: unknown): void {
    const calls = [...this.#calls.values()];
    this.#calls.clear();
    for (const call of calls) call.reject(error);
  }

  #take(id: RequestId): PendingCall | undefined {
    if (this.wasIssued(id)) this.#answeredCount++;
    const call = this.#calls.get(id);
    this.#calls.delete(id);
    return call;
  }
}
