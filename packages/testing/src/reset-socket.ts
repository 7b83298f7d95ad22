import type { Socket } from 'node:net';

/** Ends a connection as a crashed host does. Unix sockets know no reset: theirs just ends. */
export function resetSocket(socket: Socket): void {
  if (socket.remoteFamily === undefined) socket.destroy();
  else socket.resetAndDestroy();
}
