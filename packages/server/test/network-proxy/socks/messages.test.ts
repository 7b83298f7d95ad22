import { describe, expect, it } from 'vitest';
import {
  addressBytes,
  decodeAddress,
  encodeAddress,
  encodeReply,
  Reply,
  replyFor,
} from '../../../src/network-proxy/socks/messages.js';

describe('addresses', () => {
  it.each([
    ['IPv4', 1, Buffer.of(127, 0, 0, 1, 0x1f, 0x90), { host: '127.0.0.1', port: 8080 }],
    ['IPv6', 4, Buffer.concat([Buffer.alloc(15), Buffer.of(1, 0, 80)]), { host: '::1', port: 80 }],
    ['a name', 3, Buffer.from('\x0bExample.com\x01\xbb', 'latin1'), { host: 'example.com', port: 443 }],
    ['an address as a name', 3, Buffer.from('\x03::1\x00\x50', 'latin1'), { host: '::1', port: 80 }],
  ])('%s', (_name, type, bytes, authority) => {
    expect(decodeAddress(type, bytes)).toEqual({ authority, end: bytes.length });
    expect(decodeAddress(type, Buffer.concat([bytes, Buffer.of(7)]))?.end).toBe(bytes.length);
    expect(decodeAddress(type, bytes.subarray(0, -1))).toBeUndefined();
    expect(addressBytes(type, bytes[0] ?? 0)).toBe(bytes.length - 1);
  });

  it('of a type that is none, or with a name that is none, are nothing', () => {
    expect(addressBytes(2, 0)).toBeUndefined();
    expect(decodeAddress(2, Buffer.alloc(9))).toBeUndefined();
    expect(decodeAddress(3, Buffer.from('\x03a b\x00\x50', 'latin1'))).toBeUndefined();
    expect(decodeAddress(3, Buffer.of(0, 0, 80))).toBeUndefined();
  });

  it.each([
    ['a port in it', 'a.com:80'],
    ['a path', 'a.com/'],
    ['a NUL', 'denied.example\0.allowed.example'],
    ['a line', 'a.com\r\nHost: b'],
    ['a percent sign', 'a%2ecom'],
    ['a user', 'u@a.com'],
    ['a list', 'a.com,b.com'],
    ['an empty label', 'a..com'],
    ['bytes beyond ASCII', 'b\xfccher.example'],
    ['a zone', 'fe80::1%lo'],
    ['half a bracket', '[::1'],
  ])('with a name that has %s are nothing', (_name, name) => {
    const bytes = Buffer.concat([Buffer.of(name.length), Buffer.from(name, 'latin1'), Buffer.of(0, 80)]);
    expect(decodeAddress(3, bytes)).toBeUndefined();
  });

  it.each([
    ['10.1.2.3', 0x0102],
    ['::1', 80],
    ['2001:db8:0:1::2', 65535],
    ['fe80::1', 0],
  ])('%s port %i come back as they went', (address, port) => {
    const [type = 0, ...rest] = encodeAddress(address, port);
    expect(decodeAddress(type, Buffer.from(rest))?.authority).toEqual({ host: address, port });
  });
});

it('a reply without an address has one of zeros', () => {
  expect([...encodeReply(Reply.notAllowed)]).toEqual([5, 2, 0, 1, 0, 0, 0, 0, 0, 0]);
});

it.each([
  ['ECONNREFUSED', 5],
  ['EHOSTUNREACH', 4],
  ['ENETUNREACH', 3],
  ['EOTHER', 1],
])('%s is reply %i', (code, reply) => {
  expect(replyFor(Object.assign(new Error(code), { code }))).toBe(reply);
});
