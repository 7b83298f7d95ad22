import { once } from 'node:events';
import type { Socket } from 'node:net';

/** Reads so many bytes and leaves the rest where it is. Rejects when the connection ends first. */
export async function readExactly(socket: Socket, length: number): Promise<Buffer> {
  for (;;) {
    const bytes = socket.read(length) as Buffer | null;
    if (bytes !== null && bytes.length === length) return bytes;
    if (socket.readableEnded || socket.destroyed || bytes !== null) throw new Error('the connection ended');
    await untilNews(socket);
  }
}

async function untilNews(socket: Socket): Promise<void> {
  const gone = new AbortController();
  const end = () => gone.abort();
  socket.once('close', end);
  socket.once('end', end);
  try {
    await once(socket, 'readable', { signal: gone.signal });
  } finally {
    socket.off('close', end);
    socket.off('end', end);
  }
}
