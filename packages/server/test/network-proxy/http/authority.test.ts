import { describe, expect, it } from 'vitest';
import { parseAuthority, readHttpTarget, TargetError } from '../../../src/network-proxy/http/authority.js';

describe('authorities', () => {
  it.each([
    ['example.com:443', { host: 'example.com', port: 443 }],
    ['EXAMPLE.com.', { host: 'example.com', port: 80 }],
    ['[::1]:8080', { host: '::1', port: 8080 }],
    ['a:0', { host: 'a', port: 0 }],
    ['a:65535', { host: 'a', port: 65535 }],
    ['a:65536', undefined],
    ['a:', undefined],
    ['a:1:2', undefined],
    ['', undefined],
    ['user@a:1', undefined],
  ])('%j', (text, authority) => {
    expect(parseAuthority(text)).toEqual(authority);
  });
});

describe('targets of requests', () => {
  it.each([
    ['http://Example.com/a?b', undefined, { host: 'example.com', port: 80, path: '/a?b' }],
    ['http://example.com:8080', 'example.com:8080', { host: 'example.com', port: 8080, path: '/' }],
    ['http://user:secret@example.com/', undefined, { host: 'example.com', port: 80, path: '/' }],
    ['http://0x7f.1/', '127.0.0.1', { host: '127.0.0.1', port: 80, path: '/' }],
    ['/a', 'example.com:81', { host: 'example.com', port: 81, path: '/a' }],
    ['*', 'example.com', { host: 'example.com', port: 80, path: '*' }],
  ])('%s with host %s', (target, host, expected) => {
    expect(readHttpTarget(target, host)).toEqual(expected);
  });

  it.each([
    ['/a', undefined, 'missing host'],
    ['/a', 'a b', 'missing host'],
    ['http://a/', 'b', 'Host header does not match request target'],
    ['http://a:81/', 'a', 'Host header does not match request target'],
    ['https://a/', 'a', 'only http is forwarded; use CONNECT'],
    ['file:///etc/passwd', undefined, 'only http is forwarded; use CONNECT'],
    ['nonsense', 'a', 'invalid request target'],
  ])('refuses %s with host %s', (target, host, message) => {
    expect(() => readHttpTarget(target, host)).toThrow(new TargetError(message));
  });
});
