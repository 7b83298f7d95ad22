import type { Socket } from 'node:net';

/** How long a joined connection may carry nothing at all, in milliseconds. */
export const TUNNEL_IDLE_MS = 30 * 60_000;

/** How long the other side may take to read a last word and to close, in milliseconds. */
const LAST_WORD_MS = 5_000;

/** Says something and ends; what still comes is not read, so that nothing of the last word is lost. */
export function sayLast(socket: Socket, words: Uint8Array | string): void {
  socket.end(words);
  socket.resume();
  socket.setTimeout(LAST_WORD_MS, () => socket.destroy());
}

/** Passes everything on in both directions until both sides have ended, one breaks, or nothing comes for long. */
export function joinSockets(program: Socket, remote: Socket): void {
  const end = () => {
    program.destroy();
    remote.destroy();
  };
  for (const side of [program, remote]) {
    side.on('error', end);
    side.on('close', end);
  }
  remote.setTimeout(TUNNEL_IDLE_MS, end);
  program.pipe(remote);
  remote.pipe(program);
}
