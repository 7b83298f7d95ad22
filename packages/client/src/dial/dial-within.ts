import {
  addAbortListener,
  ConnectError,
  MAX_TIMER_MS,
  removeAbortListener,
  type Transport,
} from '@exec-server/rpc';
import { ExecServerError } from '../errors.js';
import { DEFAULT_CONNECT_TIMEOUT_MS, type DialOptions } from './dial-options.js';

/** Refusals that may be otherwise in a moment; 400 also answers a handshake that broke off. The rest of 4xx stays. */
const PASSING_STATUSES: ReadonlySet<number> = new Set([400, 408, 425, 429]);
const FIRST_SERVER_ERROR_STATUS = 500;

/** Failures that the next attempt meets again: certificates, permissions, a program that is not there. */
const LASTING_CAUSES = /^(CERT_|ERR_TLS_|ERR_SSL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|EACCES$|EPERM$)/;

/**
 * Makes one connection within the time for it. `open` must give up when its signal goes off; a connection that it makes
 * all the same is ended.
 */
export async function dialWithin(
  address: string,
  { connectTimeoutMs = DEFAULT_CONNECT_TIMEOUT_MS }: Pick<DialOptions, 'connectTimeoutMs'>,
  signal: AbortSignal,
  open: (signal: AbortSignal) => Promise<Transport>,
): Promise<Transport> {
  signal.throwIfAborted();
  const attempt = new AbortController();
  const onAbort = () => attempt.abort(signal.reason);
  addAbortListener(signal, onAbort);
  const timer = setTimeout(
    () => attempt.abort(timeoutError(address, connectTimeoutMs)),
    Math.min(connectTimeoutMs, MAX_TIMER_MS),
  );
  const opening = open(attempt.signal);
  try {
    return await Promise.race([opening, rejectWhenAborted(attempt.signal)]);
  } catch (error) {
    opening.then(
      (transport) => transport.destroy('the connection came too late'),
      () => {},
    );
    throw attempt.signal.aborted ? attempt.signal.reason : toConnectError(address, error);
  } finally {
    clearTimeout(timer);
    removeAbortListener(signal, onAbort);
  }
}

function rejectWhenAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    addAbortListener(signal, () => reject(signal.reason));
  });
}

function timeoutError(address: string, timeoutMs: number): ExecServerError {
  const message = `timed out connecting to exec-server at ${address} after ${timeoutMs} ms`;
  return new ExecServerError('connect_timeout', message, { retryable: true });
}

function toConnectError(address: string, error: unknown): ExecServerError {
  if (error instanceof ExecServerError) return error;
  const retryable = isPassing(error);
  if (error instanceof ConnectError)
    return new ExecServerError('connect_failed', error.message, { cause: error, retryable });
  const detail = error instanceof Error ? error.message : String(error);
  const message = `failed to connect to exec-server at ${address}: ${detail}`;
  return new ExecServerError('connect_failed', message, { cause: error, retryable });
}

function isPassing(error: unknown): boolean {
  if (error instanceof ConnectError && error.status !== undefined)
    return error.status >= FIRST_SERVER_ERROR_STATUS || PASSING_STATUSES.has(error.status);
  const cause = error instanceof ConnectError ? error.cause : error;
  const { code, syscall } = (cause ?? {}) as { code?: unknown; syscall?: unknown };
  // A socket that is not there may be one that is not there yet; a program is there or is not.
  if (code === 'ENOENT' && typeof syscall === 'string' && syscall.startsWith('spawn')) return false;
  return typeof code !== 'string' || !LASTING_CAUSES.test(code);
}
