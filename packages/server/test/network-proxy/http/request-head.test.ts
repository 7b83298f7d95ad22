import { describe, expect, it } from 'vitest';
import { BadRequestError } from '../../../src/network-proxy/http/bad-request.js';
import { type Framing, readRequestHead, spellFraming } from '../../../src/network-proxy/http/request-head.js';

const read = (rawHeaders: string[], httpVersion = '1.1') =>
  readRequestHead({ httpVersion, rawHeaders: ['Host', 'a', ...rawHeaders] });

describe('framing', () => {
  const lengths: [string[], Framing][] = [
    [[], 'none'],
    [['Content-Length', '0'], { length: 0 }],
    [['CONTENT-LENGTH', '007'], { length: 7 }],
    [['Content-Length', `${Number.MAX_SAFE_INTEGER}`], { length: Number.MAX_SAFE_INTEGER }],
    [['transfer-encoding', 'Chunked'], 'chunked'],
    // A value is no name.
    [['X', 'Content-Length', 'Y', '5'], 'none'],
  ];
  it.each(lengths)('%j', (headers, framing) => {
    expect(read(headers)).toEqual({ named: { host: 'a', port: 80 }, framing });
  });

  it.each([
    [['Content-Length', '1', 'Content-Length', '1'], 'more than one message length'],
    [['Content-Length', '1', 'Transfer-Encoding', 'chunked'], 'more than one message length'],
    [['Transfer-Encoding', 'chunked', 'Transfer-Encoding', 'chunked'], 'more than one message length'],
    [['Content-Length', '-1'], 'invalid Content-Length'],
    [['Content-Length', '0x1'], 'invalid Content-Length'],
    [['Content-Length', `${Number.MAX_SAFE_INTEGER + 1}`], 'invalid Content-Length'],
    [['Transfer-Encoding', ''], 'unsupported Transfer-Encoding'],
    [['Transfer-Encoding', 'gzip, chunked'], 'unsupported Transfer-Encoding'],
    [['Connection', 'close, Content-Length'], 'Connection header names content-length'],
    [['Connection', 'close', 'Connection', 'host'], 'Connection header names host'],
    [['Connection', '\xe4'], 'invalid Connection header'],
    [['Host', 'a'], 'more than one Host header'],
  ])('refuses %j', (headers, message) => {
    expect(() => read(headers)).toThrow(new BadRequestError(message));
  });

  it.each([
    ['GET', 'none', []],
    ['POST', 'none', ['Content-Length', '0']],
    ['GET', { length: 3 }, ['Content-Length', '3']],
    ['PUT', 'chunked', ['Transfer-Encoding', 'chunked']],
  ] as const)('of %s %j is written anew', (method, framing, headers) => {
    expect(spellFraming(method, framing)).toEqual(headers);
  });
});

describe('versions', () => {
  it.each(['0.9', '1.2', '2.0'])('%s is not spoken', (version) => {
    expect(() => read([], version)).toThrow(new BadRequestError('only HTTP/1 is spoken here'));
  });

  it('1.0 may be without a Host, and knows no chunks', () => {
    expect(readRequestHead({ httpVersion: '1.0', rawHeaders: [] })).toEqual({
      named: undefined,
      framing: 'none',
    });
    expect(() => read(['Transfer-Encoding', 'chunked'], '1.0')).toThrow(BadRequestError);
  });
});
