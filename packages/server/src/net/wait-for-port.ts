import { connect } from 'node:net';
import { addAbortListener, removeAbortListener } from '@exec-server/rpc';
import type { Clock } from '../clock.js';

/** First pause between two attempts; doubles up to the longest. */
const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 200;
/** How long one attempt may take: a host that drops packets answers neither yes nor no. */
const ATTEMPT_MS = 1_000;

/** Where a service on this machine listens when nobody says where. */
const LOCAL_HOSTS = ['127.0.0.1', '::1'];

export interface PortWait {
  readonly port: number;
  /** @default this machine, by either protocol */
  readonly host?: string | undefined;
  readonly timeoutMs: number;
  readonly clock: Clock;
  /** Gives up with its reason. */
  readonly signal: AbortSignal;
}

/** Resolves with true once something accepts a connection, with false when the time is up. */
export async function waitForOpenPort({ port, host, timeoutMs, clock, signal }: PortWait): Promise<boolean> {
  const deadline = clock.now() + timeoutMs;
  const hosts = host === undefined ? LOCAL_HOSTS : [host];
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    const attempts = await Promise.all(hosts.map((name) => canConnect(name, port, signal)));
    signal.throwIfAborted();
    if (attempts.includes(true)) return true;
    const leftMs = deadline - clock.now();
    if (leftMs <= 0) return false;
    await pause(Math.min(pauseMs, leftMs), clock, signal);
  }
}

function canConnect(host: string, port: number, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, signal });
    const finish = (open: boolean) => {
      socket.destroy();
      resolve(open);
    };
    socket.setTimeout(ATTEMPT_MS, () => finish(false));
    socket.once('connect', () => finish(true));
    socket.once('error', () => finish(false));
  });
}

function pause(ms: number, clock: Clock, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const finish = () => {
      timer.cancel();
      removeAbortListener(signal, finish);
      resolve();
    };
    const timer = clock.after(ms, finish);
    addAbortListener(signal, finish);
  });
}
