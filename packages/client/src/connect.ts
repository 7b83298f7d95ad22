import { checkOptions } from './check-options.js';
import { createDialerOn, type PlatformDialers } from './dial/create-dialer.js';
import type { DialOptions, TlsOptions } from './dial/dial-options.js';
import type { ConnectTarget } from './dial/target.js';
import type { KeepAliveOptions } from './keep-alive.js';
import type { ExecServerClientOptions, ReconnectOptions } from './low-level/client-options.js';
import { ExecServerClient } from './low-level/exec-server-client.js';
import type { Machine } from './machine.js';
import { requireOneOf, requireWholeNumber, usageError } from './usage.js';

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
  keepAlive: true,
  clock: true,
  slowReader: true,
  trace: true,
  onNetworkPolicyRequest: true,
  signal: true,
  lazy: true,
};

const KNOWN_RECONNECT_OPTIONS: Readonly<Record<keyof ReconnectOptions, true>> = {
  deadlineMs: true,
  minDelayMs: true,
  maxDelayMs: true,
};

const KNOWN_KEEP_ALIVE_OPTIONS: Readonly<Record<keyof KeepAliveOptions, true>> = {
  pingIntervalMs: true,
  maxUnansweredPings: true,
};

const KNOWN_TLS_OPTIONS: Readonly<Record<keyof TlsOptions, true>> = {
  ca: true,
  cert: true,
  key: true,
  servername: true,
  rejectUnauthorized: true,
};

const SLOW_READERS = ['wait', 'lag', 'pause'] as const;

/** Makes a machine of `target` with what the platform has. */
export async function connectOn<M extends Machine>(
  MachineClass: new (client: ExecServerClient) => M,
  platform: PlatformDialers,
  target: ConnectTarget,
  options: ConnectOptions,
): Promise<M> {
  checkOptions('connect', options, Object.keys(KNOWN_OPTIONS));
  checkOptions('`tls`', options.tls ?? {}, Object.keys(KNOWN_TLS_OPTIONS));
  checkReconnect(options.reconnect);
  checkKeepAlive(options.keepAlive);
  requireOneOf('slowReader', options.slowReader, SLOW_READERS);
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

function checkReconnect(reconnect: ReconnectOptions | false = {}): void {
  if (reconnect === false) return;
  checkOptions('`reconnect`', reconnect, Object.keys(KNOWN_RECONNECT_OPTIONS));
  for (const [name, value] of Object.entries(reconnect)) {
    // Without end is a time as well.
    if (value === undefined || (typeof value === 'number' && value >= 0)) continue;
    throw usageError(`\`reconnect.${name}\` must be a number of at least 0`);
  }
}

function checkKeepAlive(keepAlive: KeepAliveOptions | false = {}): void {
  if (keepAlive === false) return;
  checkOptions('`keepAlive`', keepAlive, Object.keys(KNOWN_KEEP_ALIVE_OPTIONS));
  requireWholeNumber('keepAlive.pingIntervalMs', keepAlive.pingIntervalMs, 1);
  requireWholeNumber('keepAlive.maxUnansweredPings', keepAlive.maxUnansweredPings, 1);
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
