import type { Socket } from 'node:net';

/** Connections of programs to one listener of a proxy; one more is closed at once. */
export const MAX_CONNECTIONS = 512;

/** The other end of a connection, for the record. */
export function clientOf({ remoteAddress = '', remotePort = 0 }: Socket): string {
  return `${remoteAddress}:${remotePort}`;
}
