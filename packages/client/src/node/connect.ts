import { readFile } from 'node:fs/promises';
import { type ConnectOptions, connectOn } from '../connect.js';
import { createDialerOn } from '../dial/create-dialer.js';
import type { DialOptions } from '../dial/dial-options.js';
import type { Dialer } from '../dial/dialer.js';
import type { ConnectTarget } from '../dial/target.js';
import { ExecServerError } from '../errors.js';
import { findContext, isContextName } from './contexts.js';
import { nodeDialers } from './node-dialers.js';
import { NodeMachine } from './node-machine.js';

/**
 * Connects to a server at `ws://`, `wss://` or `unix://`, to the one of a name that `exec-server context add` has given, to
 * one that is started for it, or to one in this process.
 *
 * @throws ExecServerError `usage`, `connect_failed`, `connect_timeout`, `initialize_timeout`, `rejected`, or the reason
 * of the signal
 */
export async function connect(target: ConnectTarget, options: ConnectOptions = {}): Promise<NodeMachine> {
  if (typeof target !== 'string' || !isContextName(target))
    return connectOn(NodeMachine, nodeDialers, target, options);
  const { url, tokenFile, tlsCaFile } = await findContext(target);
  const token = tokenFile === undefined ? undefined : (await readNamed('token', tokenFile)).trim();
  const ca = tlsCaFile === undefined ? undefined : await readNamed('certificate authorities', tlsCaFile);
  return connectOn(NodeMachine, nodeDialers, url, {
    ...(token !== undefined && { token }),
    ...(ca !== undefined && { tls: { ca } }),
    ...options,
  });
}

/** Makes what the low-level client dials with. Sends nothing yet. */
export function createDialer(target: ConnectTarget, options: DialOptions = {}): Dialer {
  return createDialerOn(nodeDialers, target, options);
}

async function readNamed(what: string, file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    const message = `cannot read the file with the ${what}: ${(cause as Error).message}`;
    throw new ExecServerError('usage', message, { cause });
  }
}
