import { type ConnectOptions, connectOn } from '../connect.js';
import { createDialerOn } from '../dial/create-dialer.js';
import type { DialOptions } from '../dial/dial-options.js';
import type { Dialer } from '../dial/dialer.js';
import type { ConnectTarget } from '../dial/target.js';
import { nodeDialers } from './node-dialers.js';
import { NodeMachine } from './node-machine.js';

/**
 * Connects to a server at `ws://`, `wss://` or `unix://`, to one that is started for it, or to one in this process.
 *
 * @throws ExecServerError `usage`, `connect_failed`, `connect_timeout`, `initialize_timeout`, `rejected`, or the reason
 * of the signal
 */
export function connect(target: ConnectTarget, options: ConnectOptions = {}): Promise<NodeMachine> {
  return connectOn(NodeMachine, nodeDialers, target, options);
}

/** Makes what the low-level client dials with. Sends nothing yet. */
export function createDialer(target: ConnectTarget, options: DialOptions = {}): Dialer {
  return createDialerOn(nodeDialers, target, options);
}
