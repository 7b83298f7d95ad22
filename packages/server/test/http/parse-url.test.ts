import { expect, it } from 'vitest';
import {
  hostToDial,
  parseHttpUrl,
  portToDial,
  withoutCredentials,
  withoutSecrets,
} from '../../src/http/parse-url.js';

it.each([
  ['http://bücher.test/ü', 'http://xn--bcher-kva.test/%C3%BC'],
  ['HTTP://HOST:80/a/../b', 'http://host/b'],
  ['http:///x', 'http://x/'],
  ['http://a\u00ad.b/', 'http://a.b/'],
])('%s is %s', (text, href) => {
  expect(parseHttpUrl(text).href).toBe(href);
});

it.each([
  ['ftp://x/', 'only supports http and https URLs, got ftp'],
  ['mailto:a', 'only supports http and https URLs, got mailto'],
  ['', 'url is invalid: relative URL without a base'],
  ['/x', 'url is invalid: relative URL without a base'],
  ['example.com', 'url is invalid: relative URL without a base'],
  ['http://', 'url is invalid: empty host'],
  ['http://:80/', 'url is invalid: empty host'],
  ['http://u:p@/', 'url is invalid: empty host'],
  ['http://[::1', 'url is invalid: invalid IPv6 address'],
  ['http://[::g]:80/', 'url is invalid: invalid IPv6 address'],
  ['http://[::1]:99999/', 'url is invalid: invalid port number'],
  ['http://x:99999/', 'url is invalid: invalid port number'],
  ['http://x:a/', 'url is invalid: invalid port number'],
  ['http://256.256.256.256/', 'url is invalid: invalid IPv4 address'],
  ['http://a b/', 'url is invalid: invalid international domain name'],
  ['http://xn--/', 'url is invalid: invalid international domain name'],
  ['http://\0/', 'url is invalid: invalid international domain name'],
])('refuses %j', (text, message) => {
  expect(() => parseHttpUrl(text)).toThrow(expect.objectContaining({ failure: 'refused', message }));
});

it('keeps secrets', () => {
  const url = new URL('http://u:p@host/a?b#c');
  expect(withoutCredentials(url).href).toBe('http://host/a?b#c');
  expect(withoutSecrets(url).href).toBe('http://host/a?b');
  expect(url.href).toBe('http://u:p@host/a?b#c');
});

it.each([
  ['http://host/', 'host', 80],
  ['https://host/', 'host', 443],
  ['https://[::1]:8443/', '::1', 8443],
])('%s is dialled at %s port %d', (text, host, port) => {
  const url = new URL(text);
  expect([hostToDial(url), portToDial(url)]).toEqual([host, port]);
});
