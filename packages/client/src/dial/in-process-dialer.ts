import { createMemoryTransportPair } from '@exec-server/rpc';
import type { Dialer } from './dialer.js';
import type { AcceptingServer } from './target.js';

const ADDRESS = 'in-process';

/**
 * Connects to a server in this process. Such a connection ends only with its client or its server, so that there is
 * nothing to redial.
 */
export function createInProcessDialer(server: AcceptingServer): Dialer {
  return {
    address: ADDRESS,
    redials: false,
    endsSession: true,
    async dial(signal) {
      signal.throwIfAborted();
      const [near, far] = createMemoryTransportPair('exec-server in-process', 'in-process client');
      server.accept(far);
      return near;
    },
    close: () => Promise.resolve(),
  };
}
