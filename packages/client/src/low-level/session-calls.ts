import type { MethodName, ParamsOf, ResultOf, TraceContext } from '@exec-server/protocol';
import type { SessionCallOptions } from '../session-client.js';
import { abortable } from './abortable.js';
import { askedWaitMs, mayBeResent } from './call-rules.js';
import type { SessionLink } from './session-link.js';
import { isLoss, toExecServerError } from './to-exec-server-error.js';

/** What calls need to know of their client. */
export interface SessionCallsOptions {
  /** Time for answers, in milliseconds, beyond what a call asks the server to wait. */
  readonly requestTimeoutMs: number | undefined;
  /** Gives the trace context of a call. */
  readonly trace: (() => TraceContext | undefined) | undefined;
  /** Whether the server is known to have had a process. */
  wasProcessSeen(target: { readonly processId: string; readonly sessionId?: string | null }): boolean;
}

/** Sends calls over whatever connection the session has, again where they may be, and names what they fail with. */
export class SessionCalls {
  readonly #link: SessionLink;
  readonly #options: SessionCallsOptions;

  constructor(link: SessionLink, options: SessionCallsOptions) {
    this.#link = link;
    this.#options = options;
  }

  /** Rejects with `ExecServerError`, or with the reason of the signal. */
  async send<M extends MethodName>(
    method: M,
    params: ParamsOf<M>,
    options: SessionCallOptions,
  ): Promise<ResultOf<M>> {
    const { signal, resend = mayBeResent(method, params) } = options;
    const timeoutMs = options.timeoutMs ?? this.#defaultTimeoutMs(method, params);
    const trace = this.#options.trace?.();
    const wireOptions = {
      ...(signal && { signal }),
      ...(timeoutMs !== undefined && { timeoutMs }),
      ...(trace && { trace }),
    };
    for (;;) {
      const wire = await this.#link.acquire(signal);
      try {
        const result = await wire.call(method, params, wireOptions);
        this.#link.noteProgress();
        return result;
      } catch (error) {
        if (!isLoss(error)) throw toExecServerError(error, this.#describe(method, params));
        await abortable(this.#link.lost(wire), signal);
        if (this.#link.overError !== undefined) throw this.#link.overError;
        if (!resend) throw toExecServerError(error);
      }
    }
  }

  #defaultTimeoutMs<M extends MethodName>(method: M, params: ParamsOf<M>): number | undefined {
    const { requestTimeoutMs } = this.#options;
    if (requestTimeoutMs === undefined) return undefined;
    const timeoutMs = requestTimeoutMs + askedWaitMs(method, params);
    return Number.isFinite(timeoutMs) ? timeoutMs : undefined;
  }

  #describe(method: MethodName, params: unknown) {
    const { processId, sessionId = null } = (params ?? {}) as { processId?: string; sessionId?: string };
    if (processId === undefined) return { method };
    return { method, processWasKnown: this.#options.wasProcessSeen({ processId, sessionId }) };
  }
}
