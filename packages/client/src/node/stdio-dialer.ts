import type { DialOptions } from '../dial/dial-options.js';
import { dialWithin } from '../dial/dial-within.js';
import type { Dialer } from '../dial/dialer.js';
import type { StdioTarget } from '../dial/target.js';
import { usageError } from '../usage.js';
import { SpawnedServer } from './spawned-server.js';
import { createSpawnedTransport } from './spawned-transport.js';

/** Starts a server for each connection; its sessions end with it, so that a lost one cannot be resumed. */
export function createStdioDialer(target: StdioTarget, options: DialOptions): Dialer {
  const [program] = target.command;
  if (program === undefined) throw usageError('`command` must name a program');
  const address = `stdio:${program}`;
  const running = new Set<SpawnedServer>();
  return {
    address,
    redials: false,
    dial: (signal) =>
      dialWithin(address, options, signal, async () => {
        const server = await SpawnedServer.start(target);
        running.add(server);
        void server.exited.then(() => running.delete(server));
        return createSpawnedTransport(server);
      }),
    async close() {
      await Promise.all([...running].map((server) => server.terminate()));
    },
  };
}
