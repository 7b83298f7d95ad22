import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type Attributes,
  type Context,
  context,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  type SpanOptions,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { afterEach, expect, test } from 'vitest';
import { loadTracer } from '../../../src/telemetry/tracing/load-tracer.js';
import { openServer, shellParams } from '../../support/session.js';
import { openTracedWire, TRACE_ID, TRACE_PARENT } from './traced-wire.js';

const SPAN_ID = 'feedfacecafebeef';

/** A span as an SDK would have it. */
interface RecordedSpan {
  readonly name: string;
  readonly kind: SpanKind | undefined;
  readonly parent: SpanContext | undefined;
  readonly attributes: Attributes;
  readonly ended: boolean;
  readonly status: SpanStatusCode;
}

/** Registers what an SDK registers: something that makes spans, and something that knows the active one. */
function registerSdk(): RecordedSpan[] {
  const spans: RecordedSpan[] = [];
  const tracer = {
    startSpan(name: string, options: SpanOptions, parentContext: Context) {
      const parent = trace.getSpanContext(parentContext);
      const attributes = { ...options.attributes };
      const record = {
        name,
        kind: options.kind,
        parent,
        attributes,
        ended: false,
        status: SpanStatusCode.UNSET,
      };
      spans.push(record);
      return Object.assign(
        trace.wrapSpanContext({ traceId: parent?.traceId ?? 'a'.repeat(32), spanId: SPAN_ID, traceFlags: 1 }),
        {
          setAttribute: (key: string, value: string) => Object.assign(attributes, { [key]: value }),
          setStatus: ({ code }: { code: SpanStatusCode }) => Object.assign(record, { status: code }),
          end: () => Object.assign(record, { ended: true }),
        },
      );
    },
    startActiveSpan: () => {
      throw new Error('not used');
    },
  };
  trace.setGlobalTracerProvider({ getTracer: () => tracer as never });
  const active = new AsyncLocalStorage<Context>();
  context.setGlobalContextManager({
    active: () => active.getStore() ?? ROOT_CONTEXT,
    with: (value, work, self, ...args) => active.run(value, () => work.apply(self as never, args)),
    bind: (_, target) => target,
    enable() {
      return this;
    },
    disable() {
      return this;
    },
  });
  return spans;
}

afterEach(() => {
  trace.disable();
  context.disable();
});

/** A connection to a server that has looked for an SDK. */
async function openTraced() {
  const server = openServer();
  const { url } = await server.listen('ws://127.0.0.1:0');
  return openTracedWire(url);
}

test('without a registered SDK nothing is loaded', async () => {
  expect(await loadTracer()).toBeUndefined();
});

test('a request is a span of the trace that it came with, under the name of its method', async () => {
  const spans = registerSdk();
  const wire = await openTraced();
  await wire.request('environment/status', {});
  expect(spans.find(({ name }) => name === 'environment/status')).toMatchObject({
    kind: SpanKind.SERVER,
    parent: { traceId: TRACE_ID, isRemote: true, traceFlags: 1 },
    attributes: { 'rpc.system': 'jsonrpc', 'rpc.method': 'environment/status' },
    ended: true,
    status: SpanStatusCode.UNSET,
  });
});

test('an error is told by its code, and a method that there is not has no span', async () => {
  const spans = registerSdk();
  const wire = await openTraced();
  await wire.request('process/read', { processId: 'missing' });
  await wire.request('made/up', {});
  expect(spans.find(({ name }) => name === 'process/read')).toMatchObject({
    attributes: { 'rpc.jsonrpc.error_code': -32600 },
    ended: true,
    status: SpanStatusCode.ERROR,
  });
  expect(spans.map(({ name }) => name)).toEqual(['initialize', 'process/read']);
});

test('the span of a request whose client goes ends as abandoned', async () => {
  const spans = registerSdk();
  const wire = await openTraced();
  await wire.request('process/start', shellParams('p', 'sleep 100'));
  const answer = wire.request('process/wait', { processId: 'p' });
  answer.catch(() => {});
  await expect.poll(() => spans.some(({ name }) => name === 'process/wait')).toBe(true);
  wire.terminate();
  await expect
    .poll(() => spans.find(({ name }) => name === 'process/wait'))
    .toMatchObject({ ended: true, attributes: { 'exec_server.abandoned': true } });
});

test('a child belongs to the span of its start', async () => {
  registerSdk();
  const wire = await openTraced();
  const script = 'echo "$TRACEPARENT"';
  await wire.request('process/start', shellParams('p', script, { traceEnv: true }));
  const { params } = await wire.next(({ method }) => method === 'process/output', 'output');
  const printed = Buffer.from(params?.chunk as string, 'base64').toString();
  expect(printed).toBe(`00-${TRACE_ID}-${SPAN_ID}-01\n`);
  expect(printed).not.toContain(TRACE_PARENT);
});
