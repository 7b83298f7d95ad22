import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decodeMessage,
  encodeError,
  encodeNotification,
  encodeRequest,
  encodeResult,
  formatRequestId,
  MAX_JSON_DEPTH,
  MalformedMessageError,
  parseErrorText,
} from '../src/index.js';

const BAD_ID = 'data did not match any variant of untagged enum RequestId';

describe('decodeMessage', () => {
  it.each([
    ['{"id":1,"method":"m","params":{"a":1}}', { kind: 'request', id: 1, method: 'm', params: { a: 1 } }],
    [
      '{"id":1,"method":"m","result":5,"error":5}',
      { kind: 'request', id: 1, method: 'm', params: undefined },
    ],
    ['{"jsonrpc":"2.0","method":"m","extra":[]}', { kind: 'notification', method: 'm', params: undefined }],
    ['{"method":"m","params":null}', { kind: 'notification', method: 'm', params: null }],
    ['{"id":"x","result":null}', { kind: 'response', id: 'x', result: null }],
    [
      '{"id":7,"error":{"code":-32600,"message":"no"}}',
      { kind: 'error', id: 7, error: { code: -32600, message: 'no' } },
    ],
    [
      '{"id":7,"error":{"code":1,"message":"no","data":{"a":1}}}',
      { kind: 'error', id: 7, error: { code: 1, message: 'no', data: { a: 1 } } },
    ],
  ])('%s', (text, message) => {
    expect(decodeMessage(text)).toEqual(message);
  });

  it.each([
    ['""', ''],
    ['"abc"', 'abc'],
    ['0', 0],
    ['-0', 0],
    ['-5', -5],
    ['9007199254740991', 9007199254740991],
    ['9007199254740993', 9007199254740993n],
    ['9223372036854775807', 9223372036854775807n],
    ['-9223372036854775808', -9223372036854775808n],
  ])('id %s comes back as it is', (text, id) => {
    const message = decodeMessage(`{"id":${text},"method":"m"}`);
    expect(message).toMatchObject({ kind: 'request', id });
    expect(Object.is((message as { id: unknown }).id, id)).toBe(true);
    expect(formatRequestId(id)).toBe(text === '-0' ? '0' : text);
  });

  it.each(['9223372036854775808', '-9223372036854775809', '1.5', '1.0', '1e2', 'null', 'true', '[]', '{}'])(
    'id %s is malformed',
    (text) => {
      expect(() => decodeMessage(`{"id":${text},"method":"m"}`)).toThrow(new MalformedMessageError(BAD_ID));
    },
  );

  it.each([
    ['null', undefined],
    ['{}', {}],
    ['{"traceparent":null}', {}],
    ['{"traceparent":"a","tracestate":"b","c":1}', { traceparent: 'a', tracestate: 'b' }],
    ['["a"]', { traceparent: 'a' }],
  ])('trace %s', (text, trace) => {
    expect(decodeMessage(`{"id":1,"method":"m","trace":${text}}`)).toHaveProperty('kind', 'request');
    expect((decodeMessage(`{"id":1,"method":"m","trace":${text}}`) as { trace?: unknown }).trace).toEqual(
      trace,
    );
  });

  it.each([
    ['[{"id":1,"method":"m"}]', 'expected a JSON-RPC object'],
    ['5', 'expected a JSON-RPC object'],
    ['null', 'expected a JSON-RPC object'],
    ['{}', 'missing field `error`'],
    ['{"id":1}', 'missing field `error`'],
    ['{"result":5}', 'missing field `id`'],
    ['{"error":{"code":1,"message":"m"}}', 'missing field `id`'],
    ['{"id":1,"error":5}', 'invalid type: number, expected struct JSONRPCErrorError'],
    ['{"id":1,"error":{"code":1}}', 'missing field `message`'],
    ['{"id":1,"error":{"code":"x","message":"m"}}', 'invalid type: string "x", expected i64'],
    ['{"id":1,"error":{"code":1.5,"message":"m"}}', 'invalid number'],
    ['{"id":1,"method":5}', 'invalid type: number, expected a string'],
    ['{"method":null}', 'invalid type: null, expected a string'],
    ['{"id":1,"method":"m","trace":5}', 'invalid type: number, expected struct W3cTraceContext'],
    ['{"id":1,"method":"m","trace":{"traceparent":5}}', 'invalid type: number, expected a string'],
    ['{"id":1,"method":"m","trace":["a","b","c"]}', 'invalid length 3, expected fewer elements in array'],
    ['{"id":1,"method":"m"}{}', 'trailing characters at line 1 column 22'],
    ['{"id":1,"method":"m","id":2}', 'duplicate JSON object key `id` at line 1 column 25'],
  ])('%s is malformed', (text, detail) => {
    expect(() => decodeMessage(text)).toThrow(new MalformedMessageError(detail));
  });

  it('finds a control character in a long string', () => {
    const text = `{"method":"m","params":"${'x'.repeat(1000)}\n"}`;
    expect(() => decodeMessage(text)).toThrow(
      new MalformedMessageError(
        'control character (\\u0000-\\u001F) found while parsing a string at line 2 column 0',
      ),
    );
  });

  it('makes no difference between text as `JSON.stringify` writes it and text with spaces in it', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.oneof(fc.integer(), fc.string()), (params, id) => {
        const text = encodeRequest(id, 'm', params);
        const message = decodeMessage(text);
        expect(message).toEqual({
          kind: 'request',
          id,
          method: 'm',
          params: JSON.parse(JSON.stringify(params)),
        });
        expect(decodeMessage(` ${text}`)).toEqual(message);
      }),
    );
  });

  it.each([MAX_JSON_DEPTH - 2, MAX_JSON_DEPTH - 1])('takes params that are %i levels deep', (depth) => {
    const params = `${'['.repeat(depth)}${']'.repeat(depth)}`;
    expect(decodeMessage(`{"method":"m","params":${params}}`)).toMatchObject({ kind: 'notification' });
  });

  it.each([
    ['is too deep', `${'['.repeat(MAX_JSON_DEPTH)}${']'.repeat(MAX_JSON_DEPTH)}`, 'recursion limit exceeded'],
    ['has a key twice', '{"a":1,"a":1}', 'duplicate JSON object key `a`'],
    ['has half a surrogate pair', '"\\ud800"', 'unexpected end of hex escape'],
  ])('refuses a message that is plain but %s', (_, params, problem) => {
    expect(() => decodeMessage(`{"method":"m","params":${params}}`)).toThrow(problem);
  });

  it.each([16_383, 16_384, 16_385])(
    'takes a message of %i characters with many brackets in a string',
    (length) => {
      const text = (params: string) => `{"method":"m","params":"${params}"}`;
      const params = '['.repeat(length - text('').length);
      expect(decodeMessage(text(params))).toMatchObject({ params });
    },
  );

  it('is not fooled by members that every object inherits', () => {
    expect(decodeMessage('{"method":"m","__proto__":{"id":1}}')).toMatchObject({ kind: 'notification' });
  });
});

describe('encoding', () => {
  it('keeps the key order of the reference and writes no jsonrpc', () => {
    expect(encodeRequest(1, 'm', { a: 1 })).toBe('{"id":1,"method":"m","params":{"a":1}}');
    expect(encodeRequest('x', 'm', undefined, { traceparent: 't' })).toBe(
      '{"id":"x","method":"m","trace":{"traceparent":"t"}}',
    );
    expect(encodeNotification('m', { a: 1 })).toBe('{"method":"m","params":{"a":1}}');
    expect(encodeNotification('m', undefined)).toBe('{"method":"m"}');
    expect(encodeResult(9223372036854775807n, {})).toBe('{"id":9223372036854775807,"result":{}}');
    expect(encodeResult(1, undefined)).toBe('{"id":1,"result":null}');
    expect(encodeError(-1, { code: -32600, message: 'a "b"' })).toBe(
      '{"error":{"code":-32600,"message":"a \\"b\\""},"id":-1}',
    );
    expect(encodeError(1, { code: 1, message: 'm', data: [1] })).toBe(
      '{"error":{"code":1,"data":[1],"message":"m"},"id":1}',
    );
  });

  it('decodes what it encodes', () => {
    expect(decodeMessage(encodeResult('é\n', [null]))).toEqual({
      kind: 'response',
      id: 'é\n',
      result: [null],
    });
  });
});

it.each([
  ['websocket', 'failed to parse websocket JSON-RPC message from L: D'],
  ['lines', 'failed to parse JSON-RPC message from L: D'],
  ['memory', 'failed to parse JSON-RPC message from L: D'],
] as const)('parse errors over %s', (framing, text) => {
  expect(parseErrorText(framing, 'L', 'D')).toBe(text);
});
