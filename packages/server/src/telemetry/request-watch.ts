import type { RequestMessage } from '@exec-server/protocol';
import type { ServerMetrics } from './metrics/server-metrics.js';
import { type CallerTrace, readCallerTrace } from './tracing/caller-trace.js';
import type { RequestEnd, RequestSpan, RequestTracer, SpanDetails } from './tracing/tracer.js';

/** Who looks at requests. */
export interface RequestObservers {
  /** Absent when nothing is counted. */
  readonly metrics?: ServerMetrics | undefined;
  /** Absent while nobody is there to take spans. */
  tracer?: RequestTracer | undefined;
}

/** One request from its arrival to its answer, for those who measure. */
export class RequestWatch {
  readonly #startedAt = performance.now();
  readonly #caller: CallerTrace | undefined;
  #method: string | undefined;
  #span: RequestSpan | undefined;

  constructor(
    request: Pick<RequestMessage, 'trace'>,
    private readonly observers: RequestObservers,
    private readonly connection: Omit<SpanDetails, 'startedAt'>,
  ) {
    if (request.trace !== undefined) this.#caller = readCallerTrace(request.trace);
  }

  /** Where what the request starts belongs in a trace, if it belongs to one. */
  get trace(): CallerTrace | undefined {
    return this.#span?.trace ?? this.#caller;
  }

  /** Gives it its name, once that is known to be one of the server's own. */
  name(method: string): void {
    this.#method = method;
    const { tracer } = this.observers;
    if (tracer !== undefined)
      this.#span = tracer.begin(method, this.#caller, { ...this.connection, startedAt: this.#startedAt });
  }

  /** Does the work of the request. */
  run<T>(work: () => T): T {
    return this.#span === undefined ? work() : this.#span.run(work);
  }

  end(end: RequestEnd): void {
    this.#span?.end(end);
    if (end === 'abandoned') return;
    this.observers.metrics?.countAnswer(this.#method, performance.now() - this.#startedAt, end.errorCode);
  }
}
