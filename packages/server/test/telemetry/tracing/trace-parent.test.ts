import { expect, test } from 'vitest';
import { formatTraceParent, parseTraceParent } from '../../../src/telemetry/tracing/trace-parent.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';

test('is read and written', () => {
  const text = `00-${TRACE}-${SPAN}-01`;
  const parent = parseTraceParent(text);
  expect(parent).toEqual({ traceId: TRACE, spanId: SPAN, flags: 1 });
  expect(parent && formatTraceParent(parent)).toBe(text);
});

test('a version to come may have more behind', () => {
  expect(parseTraceParent(`cc-${TRACE}-${SPAN}-00-more`)).toEqual({ traceId: TRACE, spanId: SPAN, flags: 0 });
});

test.each([
  ['nothing', ''],
  ['more behind the version that is known', `00-${TRACE}-${SPAN}-01-more`],
  ['the version that is none', `ff-${TRACE}-${SPAN}-01`],
  ['capital letters', `00-${TRACE.toUpperCase()}-${SPAN}-01`],
  ['a trace of zeros', `00-${'0'.repeat(32)}-${SPAN}-01`],
  ['a span of zeros', `00-${TRACE}-${'0'.repeat(16)}-01`],
  ['a short trace', `00-${TRACE.slice(1)}-${SPAN}-01`],
  ['a line end', `00-${TRACE}-${SPAN}-01\n`],
])('%s names no span', (_, text) => {
  expect(parseTraceParent(text)).toBeUndefined();
});
