import type { TraceContext } from '@exec-server/protocol';
import { formatTraceParent, parseTraceParent, type TraceParent } from './trace-parent.js';

/** Longest `tracestate` that is handed on, in characters. It may be left out at any time, and costs every child room. */
export const MAX_TRACE_STATE_CHARACTERS = 512;

const TRACE_STATE = /^[\x20-\x7e]+$/;

/** Where a request belongs in somebody's trace. */
export interface CallerTrace {
  readonly parent: TraceParent;
  /** W3C `tracestate`, only where it can be handed on. */
  readonly state: string | undefined;
}

/** Reads the trace context of a request; nothing when it names no span. */
export function readCallerTrace(trace: TraceContext | undefined): CallerTrace | undefined {
  const parent = parseTraceParent(trace?.traceparent ?? '');
  if (parent === undefined) return undefined;
  const state = trace?.tracestate ?? '';
  const isUsable = state.length <= MAX_TRACE_STATE_CHARACTERS && TRACE_STATE.test(state);
  return { parent, state: isUsable ? state : undefined };
}

/** The variables by which programs learn of the trace that they are part of. */
export function describeForChild({ parent, state }: CallerTrace): Map<string, string> {
  const variables = new Map([['TRACEPARENT', formatTraceParent(parent)]]);
  if (state !== undefined) variables.set('TRACESTATE', state);
  return variables;
}
