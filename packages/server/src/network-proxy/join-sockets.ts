import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** How long a joined connection may carry nothing at all, in milliseconds. */
export const TUNNEL_IDLE_MS = 30 * 60_000;

/** Passes everything on in both directions until both sides have ended, one breaks, or nothing comes for long. */
export function joinSockets(program: Duplex, remote: Socket): void {
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
