import { expect, it } from 'vitest';
import { isLoopbackAddress, isWildcardAddress } from '../../src/listen/ip-address.js';

it.each(['127.0.0.1', '127.255.255.255', '::1', '0:0:0:0:0:0:0:1', '::ffff:127.0.0.1'])(
  '%s is loopback',
  (address) => {
    expect(isLoopbackAddress(address)).toBe(true);
  },
);

it.each(['126.255.255.255', '128.0.0.0', '0.0.0.0', '::', '::2', '192.168.1.5', 'localhost', ''])(
  '%j is not loopback',
  (address) => {
    expect(isLoopbackAddress(address)).toBe(false);
  },
);

it.each([
  ['0.0.0.0', true],
  ['::', true],
  ['0:0:0:0:0:0:0:0', true],
  ['127.0.0.1', false],
  ['::1', false],
  ['', false],
])('%j is a wildcard: %s', (address, expected) => {
  expect(isWildcardAddress(address)).toBe(expected);
});
