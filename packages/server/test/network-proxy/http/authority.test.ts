import { describe, expect, it } from 'vitest';
import {
  absoluteForm,
  MAX_HOST_NAME_LENGTH,
  parseAuthority,
  parseHost,
  parseHostHeader,
  readHttpTarget,
  spellHostHeader,
} from '../../../src/network-proxy/http/authority.js';
import { BadRequestError } from '../../../src/network-proxy/http/bad-request.js';

describe('authorities', () => {
  it.each([
    ['example.com:443', { host: 'example.com', port: 443 }],
    ['EXAMPLE.com.:1', { host: 'example.com', port: 1 }],
    ['my_host-1:1', { host: 'my_host-1', port: 1 }],
    ['xn--bcher-kva.example:1', { host: 'xn--bcher-kva.example', port: 1 }],
    ['[::1]:8080', { host: '::1', port: 8080 }],
    ['[::FFFF:127.0.0.1]:1', { host: '127.0.0.1', port: 1 }],
    ['2130706433:1', { host: '127.0.0.1', port: 1 }],
    ['a:65535', { host: 'a', port: 65535 }],
    ['a:65536', undefined],
    ['a:99999', undefined],
    ['a:100000', undefined],
    ['a:0', undefined],
    ['a:01', undefined],
    ['a:+1', undefined],
    ['a:１', undefined],
    ['a:', undefined],
    ['a:1:2', undefined],
    ['a', undefined],
    [':1', undefined],
    ['', undefined],
    ['user@a:1', undefined],
    ['a,b:1', undefined],
    ['a/:1', undefined],
    ['a..:1', undefined],
    ['a%2e:1', undefined],
    ['bücher:1', undefined],
    ['[a]:1', undefined],
    ['[127.0.0.1]:1', undefined],
    ['[fe80::1%lo]:1', undefined],
    ['[::1]a:1', undefined],
    ['256.256.256.256:1', undefined],
  ])('%j', (text, authority) => {
    expect(parseAuthority(text)).toEqual(authority);
  });

  it('may be without a port in a Host', () => {
    expect(parseHostHeader('example.com')).toEqual({ host: 'example.com', port: 80 });
    expect(parseHostHeader('example.com:')).toBeUndefined();
  });

  it.each([
    ['example.com', 80, 'example.com'],
    ['example.com', 443, 'example.com:443'],
    ['::1', 80, '[::1]'],
    ['::1', 81, '[::1]:81'],
  ])('%s and %i are spelled %s', (host, port, expected) => {
    expect(spellHostHeader({ host, port })).toBe(expected);
    expect(parseHostHeader(expected)).toEqual({ host, port });
  });

  it.each([
    [MAX_HOST_NAME_LENGTH - 1, true],
    [MAX_HOST_NAME_LENGTH, true],
    [MAX_HOST_NAME_LENGTH + 1, false],
  ])('a name of %i characters: %s', (length, isHost) => {
    const name = 'a.'.repeat(length).slice(-length + 1);
    expect(parseHost(`b${name}`) !== undefined).toBe(isHost);
  });

  it.each([
    [62, true],
    [63, true],
    [64, false],
  ])('a label of %i characters: %s', (length, isHost) => {
    expect(parseHost(`${'a'.repeat(length)}.example`) !== undefined).toBe(isHost);
  });
});

describe('targets of requests', () => {
  it.each([
    ['GET', 'http://Example.com/a?b', undefined, { host: 'example.com', port: 80, path: '/a?b' }],
    ['GET', 'http://example.com:8080', 'example.com:8080', { host: 'example.com', port: 8080, path: '/' }],
    ['GET', 'http://0x7f.1/', '127.0.0.1', { host: '127.0.0.1', port: 80, path: '/' }],
    ['GET', '/a', 'example.com:81', { host: 'example.com', port: 81, path: '/a' }],
    ['OPTIONS', '*', 'example.com', { host: 'example.com', port: 80, path: '*' }],
    ['OPTIONS', 'http://example.com', undefined, { host: 'example.com', port: 80, path: '*' }],
  ])('%s %s with host %s', (method, target, host, expected) => {
    const named = host === undefined ? undefined : parseHostHeader(host);
    expect(readHttpTarget(method, target, named)).toEqual(expected);
  });

  it.each([
    ['/a', undefined, 'missing host'],
    ['http:///a', undefined, 'missing host'],
    ['http://user:secret@a/', undefined, 'invalid host'],
    ['http://a/', 'b', 'Host header does not match request target'],
    ['http://a:81/', 'a', 'Host header does not match request target'],
    ['https://a/', 'a', 'only http is forwarded; use CONNECT'],
    ['file:///etc/passwd', undefined, 'only http is forwarded; use CONNECT'],
    ['nonsense', 'a', 'invalid request target'],
    ['*', 'a', 'invalid request target'],
    ['/a#b', 'a', 'invalid request target'],
  ])('refuses %s with host %s', (target, host, message) => {
    const named = host === undefined ? undefined : parseHostHeader(host);
    expect(() => readHttpTarget('GET', target, named)).toThrow(new BadRequestError(message));
  });

  it.each([
    ['/a', 'http://[::1]:80/a'],
    ['*', 'http://[::1]:80'],
  ])('%s is %s for another proxy', (path, expected) => {
    expect(absoluteForm({ host: '::1', port: 80 }, path)).toBe(expected);
  });
});
