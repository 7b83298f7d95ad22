import { decodeMessage } from '@exec-server/protocol';
import { describe, expect, it } from 'vitest';
import { readContentRequest } from '../../src/node/content-request.js';

const MEMBER = { method: 'write', member: 'data' };
const MIN_CONTENT_BYTES = 32 * 1024;
const MAX_REST_BYTES = 4096;
const CONTENT = Buffer.from(Array.from({ length: 60_000 }, (_, n) => n % 253));
const LONG = CONTENT.toString('base64');

const read = (text: string) => readContentRequest(Buffer.from(text), MEMBER);

describe('a request with content', () => {
  it.each([
    ['last', `{"id":1,"method":"write","params":{"path":"/é","data":"${LONG}"}}`],
    ['first', `{"params":{"data":"${LONG}","path":"/é"},"method":"write","id":1}`],
    [
      'among spaces',
      `\t{ "id" : 1, "method" : "write", "params" : { "path":"/é", "data" : "${LONG}" } }\r\n`,
    ],
    [
      'beside other members',
      `{"id":1,"jsonrpc":"2.0","method":"write","params":{"path":"/é","data":"${LONG}"}}`,
    ],
  ])('has it taken out of its params, %s', (_where, text) => {
    const request = read(text);
    expect(request).toEqual({
      kind: 'request',
      id: 1,
      method: 'write',
      params: { path: '/é', data: '' },
      content: expect.any(Buffer),
    });
    expect(CONTENT.equals(request?.content ?? Buffer.alloc(0))).toBe(true);
  });

  it('keeps its id exact, and its trace', () => {
    const trace = '"trace":{"traceparent":"x"}';
    const text = `{"id":9007199254740993,"method":"write",${trace},"params":{"data":"${LONG}"}}`;
    expect(read(text)).toMatchObject({ id: 9007199254740993n, trace: { traceparent: 'x' } });
  });
});

describe('read like every message is', () => {
  const request = (params: string, rest = '') => `{"id":1,"method":"write","params":${params}${rest}}`;
  it.each([
    ['another method', `{"id":1,"method":"other","params":{"data":"${LONG}"}}`],
    ['a notification', `{"method":"write","params":{"data":"${LONG}"}}`],
    ['a response', `{"id":1,"result":{"data":"${LONG}"}}`],
    ['another member', request(`{"text":"${LONG}"}`)],
    ['a deeper member', request(`{"deep":{"data":"${LONG}"},"data":""}`)],
    ['a member outside of the params', request('{"data":""}', `,"data":"${LONG}"`)],
    ['a member name', request(`{"${LONG}":"x","data":"y"}`)],
    ['params by position', request(`["${LONG}"]`)],
    ['two long strings', request(`{"data":"${LONG}","path":"${LONG}"}`)],
    ['a long string before', request(`{"path":"${LONG}","data":"AAAA"}`)],
    ['no base64', request(`{"data":"${LONG.replace('A', '-')}"}`)],
    ['an escape in the content', request(`{"data":"${LONG}\\u0041\\u0041\\u0041\\u0041"}`)],
    ['an escaped quote in the content', request(`{"data":"${LONG}\\"AAA"}`)],
    ['an escape before', request(`{"path":"\\"","data":"${LONG}"}`)],
    ['an escape that looks like the stand-in', request(`{"path":"\\u0000","text":"${LONG}"}`)],
    ['an escape after', request(`{"data":"${LONG}","path":"\\n"}`)],
  ])('is one with %s', (_what, text) => {
    expect(read(text)).toBeUndefined();
    expect(() => decodeMessage(text)).not.toThrow();
  });

  it.each([
    ['ends early', `{"id":1,"method":"write","params":{"data":"${LONG}"}`],
    ['ends in its content', `{"id":1,"method":"write","params":{"data":"${LONG}`],
    ['has a member twice', request(`{"data":"${LONG}","data":"x"}`)],
    ['has a control character', request(`{"path":"\n","data":"${LONG}"}`)],
    ['has a control character in its content', request(`{"data":"${LONG}\n"}`)],
    ['has more behind it', `${request(`{"data":"${LONG}"}`)}x`],
    ['has a bad id', `{"id":1.5,"method":"write","params":{"data":"${LONG}"}}`],
  ])('is one that %s', (_how, text) => {
    expect(read(text)).toBeUndefined();
    expect(() => decodeMessage(text)).toThrow();
  });

  it.each([
    [MIN_CONTENT_BYTES - 4, false],
    [MIN_CONTENT_BYTES, true],
    [MIN_CONTENT_BYTES + 4, true],
  ])('is one with %i symbols: %s', (symbols, isRead) => {
    expect(read(request(`{"data":"${'A'.repeat(symbols)}"}`)) !== undefined).toBe(isRead);
  });

  it.each([
    [MAX_REST_BYTES - 1, true],
    [MAX_REST_BYTES, true],
    [MAX_REST_BYTES + 1, false],
  ])('is one with %i bytes before the content or after: %s', (bytes, isRead) => {
    const head = request('{"data":"').slice(0, -1);
    const before = `${' '.repeat(bytes - head.length)}${head}${LONG}"}}`;
    expect(read(before) !== undefined).toBe(isRead);
    const after = `${head}${LONG}${'"}}'.padEnd(bytes)}`;
    expect(read(after) !== undefined).toBe(isRead);
  });
});
