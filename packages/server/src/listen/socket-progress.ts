import type { Socket } from 'node:net';

/** The part of libuv's stream that Node keeps below a socket. Not public; `net.Socket` reads it for its own timeout. */
interface StreamHandle {
  readonly writeQueueSize?: number;
}

/**
 * A number that changes whenever the operating system takes bytes from the socket.
 *
 * Node's own counters move only when a whole batch of writes is done. A slow peer can need minutes for one, so the
 * count inside the batch comes from the handle, where there is one.
 */
export function measureSendProgress(socket: Socket): number {
  const handle = (socket as { _handle?: StreamHandle | null })._handle;
  return socket.bytesWritten - socket.writableLength - (handle?.writeQueueSize ?? 0);
}
