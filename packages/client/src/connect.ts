import { checkOptions } from './check-options.js';
import { createDialerOn, type PlatformDialers } from './dial/create-dialer.js';
import type { DialOptions } from './dial/dial-options.js';
import type { ConnectTarget } from './dial/target.js';
import type { ExecServerClientOptions } from './low-level/client-options.js';
import { ExecServerClient } from './low-level/exec-server-client.js';
import type { Machine } from './machine.js';
import { requireWholeNumber } from './usage.js';

/** Options of `connect`. */
export interface ConnectOptions extends DialOptions, ExecServerClientOptions {
  /** Gives up the first connection; it then rejects with the signal's reason. Means nothing once that stands. */
  readonly signal?: AbortSignal;
  /**
   * Connect with the first call instead of at once. Calls that come together share one attempt; one that fails is not
   * remembered, so that the next call tries again.
   * @default false
   */
  readonly lazy?: boolean;
}

/** Every option there is; the compiler sees to it that none is missing. */
const KNOWN_OPTIONS: Readonly<Record<keyof ConnectOptions, true>> = {
  token: true,
  connectTimeoutMs: true,
  tls: true,
  headers: true,
  clientName: true,
  resumeSessionId: true,
  initializeTimeoutMs: true,
  requestTimeoutMs: true,
  reconnect: true,
  binaryOutput: true,
  slowReader: true,
  onNetworkPolicyRequest: true,
  signal: true,
  lazy: true,
};

/** Makes a machine of `target` with what the platform has. */
export async function connectOn<M extends Machine>(
  MachineClass: new (client: ExecServerClient) => M,
  platform: PlatformDialers,
  target: ConnectTarget,
  options: ConnectOptions,
): Promise<M> {
  checkOptions('connect', options, Object.keys(KNOWN_OPTIONS));
  requireWholeNumber('initializeTimeoutMs', options.initializeTimeoutMs, 1);
  requireWholeNumber('requestTimeoutMs', options.requestTimeoutMs, 1);
  const { signal, lazy = false, token, connectTimeoutMs, tls, headers, ...clientOptions } = options;
  const dialer = createDialerOn(platform, target, {
    ...(token !== undefined && { token }),
    ...(connectTimeoutMs !== undefined && { connectTimeoutMs }),
    ...(tls !== undefined && { tls }),
    ...(headers !== undefined && { headers }),
  });
  const client = new ExecServerClient(dialer, clientOptions);
  if (!lazy) await connectOrClose(client, signal);
  return new MachineClass(client);
}

async function connectOrClose(client: ExecServerClient, signal: AbortSignal | undefined): Promise<void> {
  try {
    await client.ready(signal);
  } catch (error) {
    // Ends also what was spawned for it.
    await client.close();
    throw error;
  }
}
