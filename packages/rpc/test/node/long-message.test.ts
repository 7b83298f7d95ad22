import {
  decodeMessage,
  MAX_LIST_ELEMENTS,
  MAX_OBJECT_MEMBERS,
  MAX_TEXT_BYTES,
  MalformedMessageError,
  type Message,
  type RequestMessage,
} from '@exec-server/protocol';
import { describe, expect, it } from 'vitest';
import { LongMessage } from '../../src/node/index.js';

const MEMBERS = { write: ['data', 'more'] };
const MIN_CONTENT_BYTES = 32 * 1024;
const CONTENT = Buffer.from(Array.from({ length: 600_000 }, (_, n) => n % 253));
const LONG = CONTENT.toString('base64');

/** Reads as little as possible at a time. What is read does not depend on the bytes any more. */
function read(text: string): Message {
  const bytes = Buffer.from(text);
  const reader = new LongMessage(bytes, MEMBERS);
  for (;;) {
    const message = reader.read(() => false);
    if (message === undefined) continue;
    bytes.fill(0);
    return message;
  }
}

const request = (params: string, rest = '') => `{"id":1,"method":"write","params":${params}${rest}}`;

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
    ['with escapes', request(`{"path":"\\/\\u00e9","data":"${LONG.replaceAll('/', '\\/')}"}`)],
    ['with long escapes', request(`{"path":"/é","data":"${LONG.replaceAll('+', '\\u002b')}"}`)],
  ])('has it taken out of its params, %s', (_where, text) => {
    const message = read(text);
    expect(message).toEqual({
      kind: 'request',
      id: 1,
      method: 'write',
      params: { path: '/é', data: '' },
      content: expect.any(Buffer),
    });
    expect(CONTENT.equals((message as RequestMessage).content ?? Buffer.alloc(0))).toBe(true);
  });

  it('keeps its id exact, and its trace', () => {
    const trace = '"trace":{"traceparent":"x"}';
    const text = `{"id":9007199254740993,"method":"write",${trace},"params":{"data":"${LONG}"}}`;
    expect(read(text)).toMatchObject({ id: 9007199254740993n, trace: { traceparent: 'x' } });
  });

  it.each([
    [599_999, 1],
    [600_000, 0],
    [599_998, 2],
  ])('of %i bytes, which end in %i that are padded', (length) => {
    const content = CONTENT.subarray(0, length);
    const message = read(request(`{"more":"${content.toString('base64')}"}`)) as RequestMessage;
    expect(content.equals(message.content ?? Buffer.alloc(0))).toBe(true);
  });

  it.each([
    [MIN_CONTENT_BYTES - 4, false],
    [MIN_CONTENT_BYTES, true],
    [MIN_CONTENT_BYTES + 4, true],
  ])('of %i symbols has it taken out: %s', (symbols, isTaken) => {
    const message = read(request(`{"data":"${'A'.repeat(symbols)}"}`)) as RequestMessage;
    expect(message.content !== undefined).toBe(isTaken);
  });
});

describe('read like every message is', () => {
  const text = LONG.slice(0, 40_000);
  it.each([
    ['another method', `{"id":1,"method":"other","params":{"data":"${text}"}}`],
    ['a method like a member of every object', `{"id":1,"method":"toString","params":{"data":"${text}"}}`],
    ['a notification', `{"method":"write","params":{"data":"${text}"}}`],
    ['a response', `{"id":1,"result":{"data":"${text}"}}`],
    ['another member', request(`{"text":"${text}"}`)],
    ['a deeper member', request(`{"deep":{"data":"${text}"},"data":""}`)],
    ['a member outside of the params', request('{"data":""}', `,"data":"${text}"`)],
    ['params by position', request(`["${text}"]`)],
    ['a long method', `{"id":1,"method":"${text}"}`],
    ['no base64', request(`{"data":"${text.replace('A', '-')}"}`)],
    ['no base64 in its last group', request(`{"data":"${text.slice(0, -4)}AB=="}`)],
    ['no padding', request(`{"data":"${text.slice(0, -1)}"}`)],
    ['padding inside', request(`{"data":"QQ==${text}"}`)],
    ['a space in the content', request(`{"data":"${text} AAA"}`)],
    ['an escape that is no base64', request(`{"data":"${text}\\"AAA"}`)],
    ['an escaped backslash at every place', request(`{"data":"${'\\\\'.repeat(100_001)}"}`)],
  ])('is one with %s', (_what, source) => {
    expect(read(source)).toEqual(decodeMessage(source));
  });

  it('is one with two long strings that might be the content', () => {
    const source = request(`{"data":"${text}","more":"${text}"}`);
    expect(read(source)).toEqual(decodeMessage(source));
  });

  it.each([' '.repeat(100_000), '\t\r\n'.repeat(40_000)])('is blank, or not', (blank) => {
    const isBlank = (source: string) => {
      const reader = new LongMessage(Buffer.from(source), MEMBERS);
      expect(() => {
        while (reader.read(() => false) === undefined);
      }).toThrow(MalformedMessageError);
      return reader.isBlank;
    };
    expect([blank, `${blank}x`, `x${blank}`, `[${blank}`].map(isBlank)).toEqual([true, false, false, false]);
  });

  it.each([
    ['ends early', `{"id":1,"method":"write","params":{"data":"${text}"}`],
    ['ends in its content', `{"id":1,"method":"write","params":{"data":"${text}`],
    ['has a member twice', request(`{"data":"${text}","data":"x"}`)],
    ['has a control character', request(`{"path":"\n","data":"${text}"}`)],
    ['has a control character in its content', request(`{"data":"${text}\n"}`)],
    ['has more behind it', `${request(`{"data":"${text}"}`)}x`],
    ['has a bad id', `{"id":1.5,"method":"write","params":{"data":"${text}"}}`],
  ])('is one that %s', (_how, source) => {
    expect(() => read(source)).toThrow(MalformedMessageError);
    expect(() => decodeMessage(source)).toThrow(MalformedMessageError);
  });
});

describe('too large', () => {
  const excessOf = (source: string) => (read(source) as RequestMessage).excess;

  it.each([
    [MAX_TEXT_BYTES - 1, undefined],
    [MAX_TEXT_BYTES, undefined],
    [MAX_TEXT_BYTES + 1, 'params.list[1] is a string of more than 1048576 bytes'],
  ])('is a string of %i bytes: %s', (bytes, excess) => {
    expect(excessOf(request(`{"list":[0,"${'x'.repeat(bytes)}"]}`))).toBe(excess);
  });

  it.each([
    [MAX_OBJECT_MEMBERS - 1, undefined],
    [MAX_OBJECT_MEMBERS, undefined],
    [MAX_OBJECT_MEMBERS + 1, 'params.env has more than 16384 members'],
  ])('is an object of %i members: %s', (count, excess) => {
    const env = Object.fromEntries(Array.from({ length: count }, (_, index) => [`V${index}`, '']));
    expect(excessOf(request(JSON.stringify({ env })))).toBe(excess);
  });

  it.each([
    [MAX_LIST_ELEMENTS - 1, undefined],
    [MAX_LIST_ELEMENTS, undefined],
    [MAX_LIST_ELEMENTS + 1, 'params has more than 65536 elements'],
  ])('is a list of %i elements: %s', (count, excess) => {
    expect(excessOf(request(`[${'0,'.repeat(count - 1)}0]`))).toBe(excess);
  });

  it.each([
    [4 * 1024 * 1024 - 1, undefined],
    [4 * 1024 * 1024, undefined],
    [4 * 1024 * 1024 + 1, 'params.data is a string of more than 4194304 bytes'],
  ])('is content of %i bytes that is no base64: %s', (bytes, excess) => {
    const text = '-'.repeat(bytes);
    const message = read(request(`{"data":"${text}"}`)) as RequestMessage;
    expect(message.excess).toBe(excess);
    expect(message.params).toEqual({ data: excess === undefined ? text : '' });
  });

  it('is a reason to take a message that is no request for malformed', () => {
    expect(() => read(`{"id":1,"result":"${'x'.repeat(MAX_TEXT_BYTES + 1)}"}`)).toThrow(
      MalformedMessageError,
    );
  });
});
