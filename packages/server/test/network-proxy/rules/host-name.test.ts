import { expect, it } from 'vitest';
import { normalizeHost } from '../../../src/network-proxy/rules/host-name.js';

it.each([
  ['Example.COM', 'example.com'],
  ['example.com.', 'example.com'],
  ['example.com..', 'example.com'],
  ['bücher.example', 'xn--bcher-kva.example'],
  ['my_host', 'my_host'],
  ['127.0.0.1', '127.0.0.1'],
  ['127.1', '127.0.0.1'],
  ['0x7f.1', '127.0.0.1'],
  ['2130706433', '127.0.0.1'],
  ['0177.0.0.1', '127.0.0.1'],
  ['::1', '::1'],
  ['[::1]', '::1'],
  ['0:0:0:0:0:0:0:1', '::1'],
  ['fe80::1%eth0', 'fe80::1'],
  ['::ffff:127.0.0.1', '127.0.0.1'],
  ['::FFFF:7f00:1', '127.0.0.1'],
  ['::ffff:255.255.255.255', '255.255.255.255'],
  ['', undefined],
  ['.', undefined],
  ['a b', undefined],
  ['a\tb', undefined],
  ['user@example.com', undefined],
  ['example.com/path', undefined],
  ['example.com:80', undefined],
  ['example.com%2f', undefined],
  ['256.256.256.256', undefined],
  ['[example.com]', 'example.com'],
])('%j is %j', (text, host) => {
  expect(normalizeHost(text)).toBe(host);
});
