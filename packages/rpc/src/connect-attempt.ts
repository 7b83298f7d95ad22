import { addAbortListener, removeAbortListener } from './abort-listeners.js';
import { ConnectError } from './errors.js';
import { MAX_TIMER_MS } from './pending-calls.js';
import type { Transport } from './transport.js';

const DEFAULT_CONNECT_TIMEOUT_MS = 10_000;

/** How long a connection may take to come about. */
export interface ConnectLimits {
  /** Time until the connection must stand, in milliseconds. @default 10000 */
  readonly timeoutMs?: number;
  /** Gives the attempt up; it then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** How one attempt is told what became of it; only the first word counts. */
export interface ConnectOutcome {
  readonly succeed: (transport: Transport) => void;
  readonly fail: (detail: string, more?: { status?: number; cause?: unknown }) => void;
}

/**
 * Runs one attempt under its limits. `start` begins it and returns how to give it up; that is called unless the attempt
 * succeeds.
 */
export function attemptConnection(
  address: string,
  { timeoutMs = DEFAULT_CONNECT_TIMEOUT_MS, signal }: ConnectLimits,
  start: (outcome: ConnectOutcome) => () => void,
): Promise<Transport> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const disarm = () => {
      clearTimeout(timer);
      removeAbortListener(signal, onAbort);
    };
    const giveUp = (error: unknown) => {
      disarm();
      reject(error);
      abandon();
    };
    const fail: ConnectOutcome['fail'] = (detail, more) => giveUp(new ConnectError(address, detail, more));
    const onAbort = () => giveUp(signal?.reason);
    const abandon = start({
      succeed(transport) {
        disarm();
        resolve(transport);
      },
      fail,
    });
    const onTimeout = () => fail(`no connection within ${timeoutMs} ms`);
    const timer = setTimeout(onTimeout, Math.min(timeoutMs, MAX_TIMER_MS));
    addAbortListener(signal, onAbort);
  });
}
