import { readErrorReason } from '@exec-server/protocol';
import { PeerError } from '@exec-server/rpc';

/** The server answered `initialize` with another session than the one to resume. */
export class UnexpectedSessionError extends PeerError {
  override readonly name = 'UnexpectedSessionError';
  readonly code = 'unexpected_session';

  constructor(readonly sessionId: string) {
    super(`exec-server initialized an unexpected session ${sessionId}`);
  }
}

/** Stable names of everything that can go wrong. */
export type ErrorName =
  | 'connect_failed'
  | 'connect_timeout'
  | 'initialize_timeout'
  | 'request_timeout'
  | 'connection_lost'
  | 'session_expired'
  | 'protocol'
  | 'rejected'
  | 'capability_missing'
  | 'process_unknown'
  | 'process_expired'
  | 'spawn_failed'
  | 'sandbox_denied'
  | 'argument_too_long'
  | 'lagged'
  | 'output_truncated'
  | 'exit'
  | 'wait_timeout'
  | 'http'
  | 'usage';

/** What an error may carry beside its words. */
export interface ExecServerErrorOptions {
  /** What led to it. */
  readonly cause?: unknown;
  /** Whether the same call may succeed later. @default false */
  readonly retryable?: boolean;
}

/** Root of all errors of this package. */
export class ExecServerError extends Error {
  override readonly name: string = 'ExecServerError';
  readonly code: ErrorName;
  /** Whether the same call may succeed later. */
  readonly retryable: boolean;

  constructor(code: ErrorName, message: string, { cause, retryable = false }: ExecServerErrorOptions = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.retryable = retryable;
  }
}

/** The server said no. */
export class RejectedError extends ExecServerError {
  override readonly name: string = 'RejectedError';

  constructor(
    message: string,
    /** Code of the JSON-RPC error. */
    readonly rpcCode: number,
    options: ExecServerErrorOptions & { readonly code?: ErrorName; readonly data?: unknown } = {},
  ) {
    super(options.code ?? 'rejected', message, options);
    this.data = options.data;
  }

  /** `data` of the JSON-RPC error. */
  readonly data: unknown;

  /** The server's name of the failure, such as `file_exists`; absent where it sends none. */
  get reason(): string | undefined {
    return readErrorReason(this.data);
  }
}

/** The connection is gone and was not, or could not be, made again. What became of the call is unknown. */
export class ConnectionLostError extends ExecServerError {
  override readonly name = 'ConnectionLostError';

  constructor(
    message: string,
    options: ExecServerErrorOptions & {
      /** `seq` of the last event that was seen of the process concerned. */
      readonly lastSeq?: number;
    } = {},
  ) {
    super('connection_lost', message, { retryable: true, ...options });
    this.lastSeq = options.lastSeq;
  }

  readonly lastSeq: number | undefined;
}

/** A listener fell so far behind that events it had not seen are gone. */
export class LaggedError extends ExecServerError {
  override readonly name = 'LaggedError';

  constructor(
    /** First event that was missed. */
    readonly fromSeq: number,
    /** Last event that was missed; listening again with `afterSeq: toSeq` goes on behind it. */
    readonly toSeq: number,
    options: ExecServerErrorOptions = {},
  ) {
    super('lagged', `events ${fromSeq} to ${toSeq} were missed`, { retryable: true, ...options });
  }
}

/** The server cannot do what was asked for. */
export class CapabilityMissingError extends ExecServerError {
  override readonly name = 'CapabilityMissingError';

  constructor(
    /** What it lacks, by its name in `environment/info`. */
    readonly capability: string,
    message = `the server lacks the capability \`${capability}\``,
    options: ExecServerErrorOptions = {},
  ) {
    super('capability_missing', message, options);
  }
}
