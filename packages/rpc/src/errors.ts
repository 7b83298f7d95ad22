/** Root of the failures that arise on this side of a connection and never cross it; those that do are `RpcError`. */
export abstract class PeerError extends Error {
  /** Stable name of the failure, for programs. */
  abstract readonly code: string;
}

/** The connection ended before the call was answered, or had ended before it was made. */
export class ConnectionLostError extends PeerError {
  override readonly name = 'ConnectionLostError';
  readonly code = 'connection_lost';

  constructor(
    /** Why the connection ended; absent when it ended cleanly. */
    readonly reason?: string,
  ) {
    super(`exec-server transport disconnected${reason === undefined ? '' : `: ${reason}`}`);
  }
}

/** The answer did not come in time. The other side may still carry the call out. */
export class CallTimeoutError extends PeerError {
  override readonly name = 'CallTimeoutError';
  readonly code = 'call_timeout';

  constructor(
    readonly method: string,
    readonly timeoutMs: number,
  ) {
    super(`exec-server did not answer \`${method}\` within ${timeoutMs} ms`);
  }
}

/** Too many calls wait for an answer; this one was not sent. */
export class PendingCallLimitError extends PeerError {
  override readonly name = 'PendingCallLimitError';
  readonly code = 'pending_call_limit';

  constructor(readonly limit: number) {
    super(`exec-server has reached its limit of ${limit} pending requests`);
  }
}

/** No connection came about. */
export class ConnectError extends PeerError {
  override readonly name = 'ConnectError';
  readonly code = 'connect_failed';
  /** HTTP status of a server that refused the upgrade. */
  readonly status: number | undefined;

  constructor(address: string, detail: string, options: { status?: number; cause?: unknown } = {}) {
    super(`failed to connect to exec-server at ${address}: ${detail}`, { cause: options.cause });
    this.status = options.status;
  }
}
