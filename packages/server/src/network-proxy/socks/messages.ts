import { isIPv4 } from 'node:net';
import { type Authority, parseHost } from '../http/authority.js';
import { ipv6Groups } from '../rules/embedded-ipv4.js';
import { spellHost } from '../upstream.js';

export const SOCKS_VERSION = 5;
export const NO_AUTHENTICATION = 0;
export const NO_ACCEPTABLE_METHOD = 0xff;

export const CONNECT = 1;
export const UDP_ASSOCIATE = 3;

/** What a reply says. */
export const Reply = {
  succeeded: 0,
  generalFailure: 1,
  notAllowed: 2,
  networkUnreachable: 3,
  hostUnreachable: 4,
  connectionRefused: 5,
  commandNotSupported: 7,
  addressTypeNotSupported: 8,
} as const;

const IPV4 = 1;
const DOMAIN = 3;
const IPV6 = 4;

/** Bytes of the rest of an address, by its type and first byte, port included; nothing for a type that is none. */
export function addressBytes(type: number, first: number): number | undefined {
  if (type === IPV4) return 4 - 1 + 2;
  if (type === IPV6) return 16 - 1 + 2;
  return type === DOMAIN ? first + 2 : undefined;
}

/** Reads an address from behind its type, and tells where it ends. Nothing for what is no host, or cut off. */
export function decodeAddress(
  type: number,
  bytes: Buffer,
): { readonly authority: Authority; readonly end: number } | undefined {
  const rest = addressBytes(type, bytes[0] ?? 0);
  if (rest === undefined || bytes.length < rest + 1) return undefined;
  const end = rest + 1;
  const host = parseHost(spellAddress(type, bytes.subarray(type === DOMAIN ? 1 : 0, end - 2)));
  return host === undefined ? undefined : { authority: { host, port: bytes.readUInt16BE(end - 2) }, end };
}

function spellAddress(type: number, bytes: Buffer): string {
  if (type === IPV4) return bytes.join('.');
  if (type === IPV6) return `[${bytes.toString('hex').replaceAll(/(.{4})(?=.)/g, '$1:')}]`;
  const name = bytes.toString('latin1');
  // Some clients send addresses as names.
  return name.startsWith('[') ? name : spellHost(name);
}

/** A type, an address and a port. */
export function encodeAddress(address: string, port: number): Buffer {
  const portBytes = Buffer.of(port >> 8, port & 0xff);
  if (isIPv4(address)) return Buffer.concat([Buffer.of(IPV4, ...address.split('.').map(Number)), portBytes]);
  return Buffer.concat([Buffer.of(IPV6), encodeIpv6(address), portBytes]);
}

function encodeIpv6(address: string): Buffer {
  return Buffer.from(ipv6Groups(address).flatMap((group) => [group >> 8, group & 0xff]));
}

export function encodeReply(reply: number, address = '0.0.0.0', port = 0): Buffer {
  return Buffer.concat([Buffer.of(SOCKS_VERSION, reply, 0), encodeAddress(address, port)]);
}

/** What a reply says about a connection that could not be made. */
export function replyFor(error: unknown): number {
  switch ((error as { readonly code?: unknown }).code) {
    case 'ECONNREFUSED':
      return Reply.connectionRefused;
    case 'EHOSTUNREACH':
      return Reply.hostUnreachable;
    case 'ENETUNREACH':
      return Reply.networkUnreachable;
    default:
      return Reply.generalFailure;
  }
}
