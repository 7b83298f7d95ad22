import type { Dialer } from '../../src/dial/dialer.js';
import type { ScriptedServer } from './scripted-server.js';

/** Dials scripted servers: the first connection gets the first, and so on. */
export interface ScriptedDialer extends Dialer {
  /** Those that were dialled. */
  readonly servers: ScriptedServer[];
  readonly closes: number;
  /** Resolves with the server of the n-th connection, from 0, once it is dialled. */
  server(index: number): Promise<ScriptedServer>;
}

export function scriptDialer(
  script: (index: number) => ScriptedServer | Error,
  { redials = true } = {},
): ScriptedDialer {
  const servers: ScriptedServer[] = [];
  const waiters: (() => void)[] = [];
  let dials = 0;
  let closes = 0;
  return {
    address: 'scripted',
    redials,
    servers,
    get closes() {
      return closes;
    },
    async dial(signal) {
      signal.throwIfAborted();
      const server = script(dials++);
      if (server instanceof Error) throw server;
      servers.push(server);
      for (const wake of waiters.splice(0)) wake();
      return server.transport;
    },
    async close() {
      closes++;
    },
    async server(index) {
      for (;;) {
        const server = servers[index];
        if (server !== undefined) return server;
        await new Promise<void>((resolve) => {
          waiters.push(resolve);
        });
      }
    },
  };
}
