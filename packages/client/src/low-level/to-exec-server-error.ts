import {
  ErrorCode,
  type ErrorReason,
  EXTENSION_METHODS,
  MalformedMessageError,
  type MethodName,
  RpcError,
  readErrorReason,
} from '@exec-server/protocol';
import {
  CallTimeoutError,
  ConnectError,
  PendingCallLimitError,
  ConnectionLostError as TransportLostError,
} from '@exec-server/rpc';
import {
  CapabilityMissingError,
  ConnectionLostError,
  type ErrorName,
  ExecServerError,
  RejectedError,
  UnexpectedSessionError,
} from '../errors.js';

/** What a proxy between client and server answers for a transport that ended behind it. */
const TRANSPORT_CLOSED_TEXT = 'JSON-RPC transport closed';

/** How a server puts E2BIG. */
const TOO_LONG_TEXT = '(os error 7)';

const REJECTIONS: ReadonlyMap<string, ErrorName> = new Map<ErrorReason, ErrorName>([
  ['session_unknown', 'session_expired'],
  ['sandbox_refused', 'sandbox_denied'],
  ['spawn_failed', 'spawn_failed'],
  ['argument_too_long', 'argument_too_long'],
]);

const SANDBOX_TEXTS = ['sandbox intent cannot be enforced', 'filesystem sandbox is unavailable'];

/** What an error is about. */
export interface ErrorContext {
  readonly method?: MethodName;
  /** The process that the call names has been seen alive, so that a server that does not know it has forgotten it. */
  readonly processWasKnown?: boolean;
}

/** Puts whatever a call can fail with into the one family of errors of this package. Reasons of signals stay as they are. */
export function toExecServerError(error: unknown, context: ErrorContext = {}): unknown {
  if (error instanceof RpcError) return fromRpcError(error, context);
  if (error instanceof TransportLostError) return new ConnectionLostError(error.message, { cause: error });
  if (error instanceof CallTimeoutError) {
    const code = error.method === 'initialize' ? 'initialize_timeout' : 'request_timeout';
    return new ExecServerError(code, error.message, { cause: error, retryable: true });
  }
  if (error instanceof MalformedMessageError) {
    const about = context.method === undefined ? '' : `\`${context.method}\`: `;
    return new ExecServerError('protocol', `${about}${error.message}`, { cause: error });
  }
  if (error instanceof UnexpectedSessionError)
    return new ExecServerError('session_expired', error.message, { cause: error });
  if (error instanceof ConnectError)
    return new ExecServerError('connect_failed', error.message, {
      cause: error,
      retryable: error.status === undefined,
    });
  if (error instanceof PendingCallLimitError)
    return new ExecServerError('usage', error.message, { cause: error, retryable: true });
  if (error instanceof RangeError) return new ExecServerError('usage', error.message, { cause: error });
  return error;
}

/** Whether an error says that the connection ended before the answer. */
export function isLoss(error: unknown): boolean {
  if (error instanceof TransportLostError) return true;
  return (
    error instanceof RpcError &&
    error.code === ErrorCode.transportClosed &&
    error.message === TRANSPORT_CLOSED_TEXT
  );
}

/** Whether the server says that it has no process of that id. */
export function isUnknownProcess(error: unknown): boolean {
  return (
    wasForgotten(error) ||
    saysReason(error, 'process_unknown', ({ message }) => message.startsWith('unknown process id '))
  );
}

/** Whether the server says that it had one, which it knows no longer. */
function wasForgotten(error: unknown): boolean {
  return saysReason(error, 'process_expired', () => false);
}

/** Whether the server says that the process has an id but is not running yet. */
export function isStillStarting(error: unknown): boolean {
  return (
    error instanceof RpcError &&
    error.message.startsWith('process id ') &&
    error.message.endsWith(' is starting')
  );
}

/** Whether the server says that a process to be started has the id of another one. */
export function isIdTaken(error: unknown): boolean {
  return saysReason(
    error,
    'process_exists',
    ({ message }) => message.startsWith('process ') && message.endsWith(' already exists'),
  );
}

function fromRpcError(error: RpcError, context: ErrorContext): ExecServerError {
  if (isLoss(error)) return new ConnectionLostError(disconnectText(error.message), { cause: error });
  const { method } = context;
  if (error.code === ErrorCode.methodNotFound && method !== undefined && EXTENSION_METHODS.has(method))
    return new CapabilityMissingError(method, `the server does not know \`${method}\``, { cause: error });
  return new RejectedError(error.message, error.code, {
    code: nameRejection(error, context),
    cause: error,
    data: error.data,
    retryable: error.code === ErrorCode.overloaded || error.code === ErrorCode.sessionAttached,
  });
}

function nameRejection(error: RpcError, { method, processWasKnown }: ErrorContext): ErrorName {
  if (isUnknownProcess(error))
    return processWasKnown || wasForgotten(error) ? 'process_expired' : 'process_unknown';
  const reason = readErrorReason(error.data);
  if (reason !== undefined) return REJECTIONS.get(reason) ?? 'rejected';
  return nameByText(error, method);
}

/** The name of a refusal of a server that sends none, as other implementations do. */
function nameByText({ code, message }: RpcError, method: MethodName | undefined): ErrorName {
  if (method === 'initialize' && message.startsWith('unknown session id ')) return 'session_expired';
  if (SANDBOX_TEXTS.some((text) => message.startsWith(text))) return 'sandbox_denied';
  const starts = method === 'process/start' || method === 'process/startPrepared';
  if (starts && code === ErrorCode.internalError)
    return message.includes(TOO_LONG_TEXT) ? 'argument_too_long' : 'spawn_failed';
  return 'rejected';
}

/** Whether a server names this failure, or says it in these words where it names none. */
function saysReason(
  error: unknown,
  reason: ErrorReason,
  inWords: (error: RpcError) => boolean,
): error is RpcError {
  if (!(error instanceof RpcError)) return false;
  const named = readErrorReason(error.data);
  return named === undefined ? inWords(error) : named === reason;
}

/** What everything that hung on a connection is told at its end. */
export function disconnectText(reason: string | undefined): string {
  return `exec-server transport disconnected${reason === undefined ? '' : `: ${reason}`}`;
}
