import {
  context,
  createTraceState,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { VERSION } from '../../version.js';
import type { CallerTrace } from './caller-trace.js';
import type { RequestEnd, RequestSpan, RequestTracer, SpanDetails } from './tracer.js';

/** Makes spans with the SDK that is registered in this process. */
export function createOpenTelemetryTracer(): RequestTracer {
  const tracer = trace.getTracer('exec-server', VERSION);
  return { begin: (method, caller, details) => beginSpan(tracer, method, caller, details) };
}

function beginSpan(
  tracer: Tracer,
  method: string,
  caller: CallerTrace | undefined,
  { connectionId, remote, startedAt }: SpanDetails,
): RequestSpan {
  const parent = caller === undefined ? ROOT_CONTEXT : asContext(caller);
  const span = tracer.startSpan(
    method,
    {
      kind: SpanKind.SERVER,
      startTime: performance.timeOrigin + startedAt,
      attributes: {
        'rpc.system': 'jsonrpc',
        'rpc.method': method,
        'exec_server.connection.id': connectionId,
        'exec_server.remote': remote,
      },
    },
    parent,
  );
  const active = trace.setSpan(parent, span);
  return {
    trace: traceOf(span),
    run: (work) => context.with(active, work),
    end: (end) => endSpan(span, end),
  };
}

function endSpan(span: Span, end: RequestEnd): void {
  if (end === 'abandoned') span.setAttribute('exec_server.abandoned', true);
  else if (end.errorCode !== undefined) {
    span.setAttribute('rpc.jsonrpc.error_code', end.errorCode);
    span.setStatus({ code: SpanStatusCode.ERROR });
  }
  span.end();
}

function asContext({ parent: { traceId, spanId, flags }, state }: CallerTrace) {
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags: flags,
    isRemote: true,
    ...(state !== undefined && { traceState: createTraceState(state) }),
  });
}

function traceOf(span: Span): CallerTrace {
  const { traceId, spanId, traceFlags, traceState } = span.spanContext();
  return {
    parent: { traceId, spanId, flags: traceFlags },
    state: traceState?.serialize() || undefined,
  };
}
