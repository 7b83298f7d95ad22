import { type ConnectOptions, connectOn } from './connect.js';
import { browserDialers } from './dial/browser-dialers.js';
import { createDialerOn } from './dial/create-dialer.js';
import type { DialOptions } from './dial/dial-options.js';
import type { Dialer } from './dial/dialer.js';
import type { ConnectTarget } from './dial/target.js';
import { Machine } from './machine.js';

/**
 * Connects to a server. This is the one for browsers: `unix://`, commands to start, `tls` and `headers` need Node, and
 * are refused with `usage`.
 *
 * @throws ExecServerError `usage`, `connect_failed`, `connect_timeout`, `initialize_timeout`, `rejected`, or the reason
 * of the signal
 */
export function connect(target: ConnectTarget, options: ConnectOptions = {}): Promise<Machine> {
  return connectOn(Machine, browserDialers, target, options);
}

/** Makes what the low-level client dials with. Sends nothing yet. */
export function createDialer(target: ConnectTarget, options: DialOptions = {}): Dialer {
  return createDialerOn(browserDialers, target, options);
}
