import type { Transport } from '@exec-server/rpc';
import { ExecServerError } from '../errors.js';
import type { Dialer } from './dialer.js';

/** Hands out a connection that stands already, once. */
export function createTransportDialer(transport: Transport): Dialer {
  let taken = false;
  return {
    address: transport.label,
    redials: false,
    async dial(signal) {
      signal.throwIfAborted();
      if (taken) throw new ExecServerError('connect_failed', `${transport.label} was used already`);
      taken = true;
      return transport;
    },
    async close() {
      // One that was never handed out has no other owner to end it.
      if (!taken) transport.destroy('the client was closed');
      taken = true;
    },
  };
}
