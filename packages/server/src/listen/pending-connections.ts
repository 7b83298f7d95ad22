import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { formatAuthority } from './listen-url.js';

/** The other end of a connection as `IP:PORT`. */
export function peerName(socket: Pick<Socket, 'remoteAddress' | 'remotePort'>): string {
  return formatAuthority(socket.remoteAddress ?? 'unknown', socket.remotePort ?? 0);
}

/**
 * The connections of a server that have not become a WebSocket. When there are too many the oldest goes: a client
 * that means it upgrades within milliseconds, so a flood ends its own connections first.
 */
export class PendingConnections {
  // By peer, not by socket: over TLS the upgraded socket is not the one that was accepted.
  readonly #sockets = new Map<string, Socket>();

  constructor(server: Server, limit: number) {
    server.on('connection', (socket: Socket) => {
      const peer = peerName(socket);
      this.#sockets.set(peer, socket);
      socket.once('close', () => this.#sockets.delete(peer));
      if (this.#sockets.size <= limit) return;
      for (const oldest of this.#sockets.values()) {
        oldest.destroy();
        break;
      }
    });
  }

  /** The connection has become a WebSocket and no longer counts. */
  release(socket: Pick<Socket, 'remoteAddress' | 'remotePort'>): void {
    this.#sockets.delete(peerName(socket));
  }

  destroyAll(): void {
    for (const socket of this.#sockets.values()) socket.destroy();
  }
}
