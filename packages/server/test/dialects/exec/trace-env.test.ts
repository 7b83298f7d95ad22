import { expect, test } from 'vitest';
import { openServer, shellParams, startParams } from '../../support/session.js';
import { openTracedWire, TRACE_PARENT } from '../../telemetry/tracing/traced-wire.js';

const SCRIPT = 'echo "$TRACEPARENT $TRACESTATE"';
const traceparent = TRACE_PARENT;

/** What a child prints that is asked for its trace. */
async function askChild(trace: object | undefined, changes: object, method = 'process/start') {
  const server = openServer();
  const { url } = await server.listen('ws://127.0.0.1:0');
  const wire = await openTracedWire(url, trace);
  const { error } = await wire.request(method, shellParams('p', SCRIPT, changes));
  if (error !== undefined) throw new Error(error.message);
  const { params } = await wire.next((message) => message.method === 'process/output', 'output');
  return Buffer.from(params?.chunk as string, 'base64').toString();
}

test('a child is told the trace of its start only if that is asked for', async () => {
  const trace = { traceparent, tracestate: 'vendor=1' };
  expect(await askChild(trace, {})).toBe(' \n');
  expect(await askChild(trace, { traceEnv: true })).toBe(`${traceparent} vendor=1\n`);
  const prepared = { traceEnv: true, program: '/bin/sh', env: {} };
  expect(await askChild(trace, prepared, 'process/startPrepared')).toBe(`${traceparent} vendor=1\n`);
});

test('what names no span is not handed on', async () => {
  expect(await askChild({ traceparent: 'none' }, { traceEnv: true })).toBe(' \n');
  expect(await askChild({}, { traceEnv: true })).toBe(' \n');
});

test('a policy that keeps few variables keeps these', async () => {
  const envPolicy = {
    inherit: 'none',
    ignoreDefaultExcludes: true,
    exclude: [],
    set: {},
    includeOnly: ['PATH'],
  };
  expect(await askChild({ traceparent }, { traceEnv: true, envPolicy })).toBe(`${traceparent} \n`);
});

test('the member is unknown where its capability is switched off', async () => {
  const server = openServer({ disabledCapabilities: ['processTraceEnv'] });
  const { url } = await server.listen('ws://127.0.0.1:0');
  const wire = await openTracedWire(url);
  await wire.request('process/start', startParams('p', ['env'], { traceEnv: true }));
  const { params } = await wire.next((message) => message.method === 'process/output', 'output');
  expect(Buffer.from(params?.chunk as string, 'base64').toString()).not.toContain('TRACEPARENT');
});
