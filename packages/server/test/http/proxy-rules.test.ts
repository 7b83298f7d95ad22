import { describe, expect, it } from 'vitest';
import { readProxyRules } from '../../src/http/proxy-rules.js';

const PROXY = 'http://proxy:3128';

function proxyFor(url: string, env: Record<string, string>): string | undefined {
  return readProxyRules(env).proxyFor(new URL(url))?.href;
}

describe('the proxy', () => {
  it.each([
    [{}, undefined, undefined],
    [{ HTTP_PROXY: PROXY }, 'http://proxy:3128/', undefined],
    [{ http_proxy: PROXY }, 'http://proxy:3128/', undefined],
    [{ HTTPS_PROXY: PROXY }, undefined, 'http://proxy:3128/'],
    [{ https_proxy: PROXY }, undefined, 'http://proxy:3128/'],
    [{ ALL_PROXY: PROXY }, 'http://proxy:3128/', 'http://proxy:3128/'],
    [{ all_proxy: PROXY, HTTP_PROXY: 'http://other' }, 'http://other/', 'http://proxy:3128/'],
    [{ HTTP_PROXY: PROXY, http_proxy: 'http://other' }, 'http://proxy:3128/', undefined],
    [{ HTTP_PROXY: '', http_proxy: PROXY }, 'http://proxy:3128/', undefined],
    [{ HTTP_PROXY: 'proxy:3128' }, 'http://proxy:3128/', undefined],
    [{ HTTP_PROXY: '::::' }, undefined, undefined],
    [{ HTTP_PROXY: '::::', ALL_PROXY: PROXY }, 'http://proxy:3128/', 'http://proxy:3128/'],
    [
      { HTTP_PROXY: PROXY, HTTPS_PROXY: PROXY, ALL_PROXY: PROXY, REQUEST_METHOD: 'GET' },
      undefined,
      undefined,
    ],
    [{ http_proxy: PROXY, REQUEST_METHOD: '' }, undefined, undefined],
  ])('of %j', (env, http, https) => {
    expect(proxyFor('http://host/', env)).toBe(http);
    expect(proxyFor('https://host/', env)).toBe(https);
  });
});

describe('NO_PROXY', () => {
  it.each([
    ['example.test', 'http://example.test:1/', true],
    ['example.test', 'http://sub.example.test/', true],
    ['example.test', 'http://notexample.test/', false],
    ['.example.test', 'http://example.test/', true],
    ['.example.test', 'http://sub.example.test/', true],
    ['EXAMPLE.test', 'http://example.test/', true],
    ['*.example.test', 'http://sub.example.test/', false],
    ['*', 'http://anything/', true],
    ['*', 'http://10.0.0.1/', true],
    ['a, b ,c', 'http://b/', true],
    ['127.0.0.1', 'http://127.0.0.1:80/', true],
    ['127.0.0.0/8', 'http://127.1.2.3/', true],
    ['127.0.0.0/8', 'http://128.0.0.1/', false],
    ['127.0.0.0/33', 'http://127.0.0.1/', false],
    ['127.', 'http://127.0.0.1/', false],
    ['127.0.0.1:80', 'http://127.0.0.1/', false],
    ['example.test:80', 'http://example.test/', false],
    ['::1', 'http://[::1]/', true],
    ['fd00::/8', 'http://[fd12::1]/', true],
    ['[::1]', 'http://[::1]/', false],
    ['', 'http://host/', false],
    [',,', 'http://host/', false],
  ])('%j exempts %s: %s', (list, url, exempt) => {
    expect(proxyFor(url, { HTTP_PROXY: PROXY, NO_PROXY: list }) === undefined).toBe(exempt);
  });

  it('counts in upper case first', () => {
    const env = { HTTP_PROXY: PROXY, NO_PROXY: 'a', no_proxy: 'b' };
    expect(proxyFor('http://a/', env)).toBeUndefined();
    expect(proxyFor('http://b/', env)).toBe('http://proxy:3128/');
    expect(proxyFor('http://b/', { HTTP_PROXY: PROXY, no_proxy: 'b' })).toBeUndefined();
  });
});
