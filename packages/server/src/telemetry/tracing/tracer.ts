import type { CallerTrace } from './caller-trace.js';

/** What is told about a request in a trace. No payloads. */
export interface SpanDetails {
  readonly connectionId: number;
  readonly remote: string;
  /** Milliseconds since the start of the process. */
  readonly startedAt: number;
}

/** How a request ended: with a result, with an error, or without an answer because the client went. */
export type RequestEnd = { readonly errorCode?: number } | 'abandoned';

/** The span of one request. */
export interface RequestSpan {
  /** Where what the request starts belongs. */
  readonly trace: CallerTrace;
  /** Runs the work of the request, so that spans made by others on the way become children of this one. */
  run<T>(work: () => T): T;
  end(end: RequestEnd): void;
}

/** Makes spans. */
export interface RequestTracer {
  begin(method: string, caller: CallerTrace | undefined, details: SpanDetails): RequestSpan;
}
