import { describe, expect, it } from 'vitest';
import { embeddedIpv4, ipv6Groups } from '../../../src/network-proxy/rules/embedded-ipv4.js';

describe('addresses in addresses', () => {
  it.each([
    ['compatible', '::1.2.3.4', ['1.2.3.4']],
    ['mapped', '::ffff:1.2.3.4', ['1.2.3.4']],
    ['mapped, in groups', '::FFFF:102:304', ['1.2.3.4']],
    ['translated', '::ffff:0:1.2.3.4', ['1.2.3.4']],
    ['translation', '64:ff9b::1.2.3.4', ['1.2.3.4']],
    ['6to4', '2002:102:304::', ['1.2.3.4']],
    ['Teredo', '2001:0:506:708:0:0:fefd:fcfb', ['5.6.7.8', '1.2.3.4']],
    ['ISATAP', '2606:4700::5efe:1.2.3.4', ['1.2.3.4']],
    ['ISATAP, known to be unique', '2606:4700::200:5efe:1.2.3.4', ['1.2.3.4']],
    ['a zone', 'fe80::5efe:1.2.3.4%eth0', ['1.2.3.4']],
    ['none', '2606:4700::1.2.3.4', []],
    ['an address of its own', '1.2.3.4', []],
    ['a name', 'example.com', []],
    ['nothing', '', []],
  ])('%s', (_name, address, embedded) => {
    expect(embeddedIpv4(address)).toEqual(embedded);
  });

  it.each([
    ['48', '64:ff9b:1:102:3:400::'],
    ['56', '64:ff9b:1:1:2:304::'],
    ['64', '64:ff9b:1:0:1:203:400:0'],
    ['96', '64:ff9b:1::1.2.3.4'],
  ])('local translation with a prefix of %s bits', (_bits, address) => {
    expect(embeddedIpv4(address)).toContain('1.2.3.4');
  });
});

it.each([
  ['::', [0, 0, 0, 0, 0, 0, 0, 0]],
  ['::1', [0, 0, 0, 0, 0, 0, 0, 1]],
  ['1::', [1, 0, 0, 0, 0, 0, 0, 0]],
  ['1:2:3:4:5:6:7:8', [1, 2, 3, 4, 5, 6, 7, 8]],
  ['fe80::1%eth0', [0xfe80, 0, 0, 0, 0, 0, 0, 1]],
])('%s has eight groups', (address, groups) => {
  expect(ipv6Groups(address)).toEqual(groups);
});
