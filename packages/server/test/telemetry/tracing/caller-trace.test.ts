import { expect, test } from 'vitest';
import {
  describeForChild,
  MAX_TRACE_STATE_CHARACTERS,
  readCallerTrace,
} from '../../../src/telemetry/tracing/caller-trace.js';

const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const variablesOf = (tracestate?: string) => {
  const trace = readCallerTrace({ traceparent, tracestate });
  return trace && Object.fromEntries(describeForChild(trace));
};

test('children are told the span and the state', () => {
  expect(variablesOf('a=1,b=2')).toEqual({ TRACEPARENT: traceparent, TRACESTATE: 'a=1,b=2' });
  expect(variablesOf()).toEqual({ TRACEPARENT: traceparent });
});

test('a state that is too long or has control characters is left out', () => {
  const longest = `a=${'x'.repeat(MAX_TRACE_STATE_CHARACTERS - 2)}`;
  expect(variablesOf(longest.slice(1))).toHaveProperty('TRACESTATE', longest.slice(1));
  expect(variablesOf(longest)).toHaveProperty('TRACESTATE', longest);
  expect(variablesOf(`${longest}x`)).toEqual({ TRACEPARENT: traceparent });
  expect(variablesOf('a=1\nb=2')).toEqual({ TRACEPARENT: traceparent });
  expect(variablesOf('')).toEqual({ TRACEPARENT: traceparent });
});

test('without a span there is no trace, whatever the state', () => {
  expect(readCallerTrace(undefined)).toBeUndefined();
  expect(readCallerTrace({ traceparent: 'none', tracestate: 'a=1' })).toBeUndefined();
});
