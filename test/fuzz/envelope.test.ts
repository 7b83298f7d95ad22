import {
  decodeMessage,
  encodeError,
  encodeNotification,
  encodeRequest,
  encodeResult,
  JsonSyntaxError,
  MAX_JSON_DEPTH,
  MalformedMessageError,
  type Message,
  scanJson,
} from '@exec-server/protocol';
import fc from 'fast-check';
import { expect } from 'vitest';
import { anyText, jsonText } from './json-text.js';
import { testProperty } from './property.js';

/** What the scanner refuses although it is JSON; the first words of its complaints. */
const STRICTER_THAN_JSON = [
  'duplicate JSON object key',
  'lone leading surrogate in hex escape',
  'unexpected end of hex escape',
  'recursion limit exceeded',
];

function attempt<T>(action: () => T): { readonly value: T } | { readonly error: unknown } {
  try {
    return { value: action() };
  } catch (error) {
    return { error };
  }
}

testProperty(
  'text is scanned as JSON.parse reads it, but for what is refused on purpose',
  fc.property(anyText, (text) => {
    const scanned = attempt(() => scanJson(text));
    const parsed = attempt(() => JSON.parse(text) as unknown);
    if ('value' in scanned) {
      expect(parsed).toHaveProperty('value');
      return;
    }
    expect(scanned.error).toBeInstanceOf(JsonSyntaxError);
    const { message } = scanned.error as JsonSyntaxError;
    expect(message).toMatch(/ at line \d+ column \d+$/);
    if ('value' in parsed) expect(STRICTER_THAN_JSON.some((words) => message.startsWith(words))).toBe(true);
  }),
  6_000,
);

testProperty(
  'JSON without repeated names and broken pairs is never refused',
  fc.property(jsonText, (text) => {
    fc.pre(!/\\ud[89a-f]/i.test(text));
    expect(() => scanJson(text)).not.toThrow();
  }),
  2_000,
);

testProperty(
  'a message is decoded, or refused as malformed',
  fc.property(anyText, (text) => {
    const decoded = attempt(() => decodeMessage(text));
    if ('error' in decoded) {
      expect(decoded.error).toBeInstanceOf(MalformedMessageError);
      return;
    }
    expect(['request', 'notification', 'response', 'error']).toContain(decoded.value.kind);
    expect(JSON.parse(text)).toBeTypeOf('object');
  }),
  6_000,
);

const requestId = fc.oneof(
  fc.string(),
  fc.maxSafeInteger(),
  fc.bigInt({ min: 2n ** 53n, max: 2n ** 63n - 1n }),
  fc.bigInt({ min: -(2n ** 63n), max: -(2n ** 53n) }),
);
const method = fc.string({ unit: 'grapheme' });
/** Wire values; `undefined` is for params that are not there, -0 is 0 in JSON. */
const wireValue = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as unknown);

const message: fc.Arbitrary<Message> = fc.oneof(
  fc.record({
    kind: fc.constant('request' as const),
    id: requestId,
    method,
    params: fc.option(wireValue, { nil: undefined }),
  }),
  fc.record({
    kind: fc.constant('notification' as const),
    method,
    params: fc.option(wireValue, { nil: undefined }),
  }),
  fc.record({ kind: fc.constant('response' as const), id: requestId, result: wireValue }),
  fc.record({
    kind: fc.constant('error' as const),
    id: requestId,
    error: fc.record({ code: fc.maxSafeInteger(), message: fc.string({ unit: 'grapheme' }) }),
  }),
);

function encode(value: Message): string {
  switch (value.kind) {
    case 'request':
      return encodeRequest(value.id, value.method, value.params);
    case 'notification':
      return encodeNotification(value.method, value.params);
    case 'response':
      return encodeResult(value.id, value.result);
    case 'error':
      return encodeError(value.id, value.error);
  }
}

testProperty(
  'a message survives the wire',
  fc.property(message, (sent) => {
    expect(decodeMessage(encode(sent))).toEqual(sent);
  }),
  2_000,
);

testProperty(
  `nesting is taken up to ${MAX_JSON_DEPTH} levels`,
  fc.property(
    fc.array(fc.boolean(), { minLength: MAX_JSON_DEPTH - 3, maxLength: MAX_JSON_DEPTH + 3 }),
    (levels) => {
      const text = levels.reduce((inner, isList) => (isList ? `[${inner}]` : `{"a":${inner}}`), '1');
      expect('value' in attempt(() => scanJson(text))).toBe(levels.length <= MAX_JSON_DEPTH);
    },
  ),
  100,
);
