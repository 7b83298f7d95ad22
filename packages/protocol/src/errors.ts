import type { ErrorData, ErrorReason } from './error-reasons.js';

/** Codes of the `error` member of a response. */
export const ErrorCode = {
  /** The message is malformed, or the request is refused in the present state. */
  invalidRequest: -32600,
  /** The method does not exist. */
  methodNotFound: -32601,
  /** The parameters cannot be decoded or make no sense. */
  invalidParams: -32602,
  /** The operating system or the server failed. */
  internalError: -32603,
  /** A file or a file handle does not exist. */
  notFound: -32004,
  /** The session to resume is attached to another connection. */
  sessionAttached: -32010,
  /** A limit on work in flight is reached; the request was not started and may be sent again. */
  overloaded: -32001,
  /** Never sent: what a client reports for calls whose transport ended before the answer. */
  transportClosed: -32000,
} as const;

export interface RpcErrorOptions {
  /** Machine-readable detail that goes over the wire as `error.data`. */
  readonly data?: unknown;
  /** What led to this error; stays on this side. */
  readonly cause?: unknown;
}

/** An error that crosses the wire. */
export class RpcError extends Error {
  readonly code: number;
  readonly data?: unknown;

  constructor(code: number, message: string, options: RpcErrorOptions = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    this.code = code;
    if (options.data !== undefined) this.data = options.data;
  }

  static {
    RpcError.prototype.name = 'RpcError';
  }
}

/** What `data` of an error holds beside its name. */
export type ErrorDetail = Omit<ErrorData, 'code'>;

/** An error of the server's with its name. */
export function namedError(
  code: number,
  message: string,
  reason: ErrorReason,
  detail: ErrorDetail = {},
): RpcError {
  return new RpcError(code, message, { data: { code: reason, ...detail } satisfies ErrorData });
}

export function invalidRequest(
  message: string,
  reason: ErrorReason = 'invalid_request',
  detail?: ErrorDetail,
): RpcError {
  return namedError(ErrorCode.invalidRequest, message, reason, detail);
}

export function invalidParams(message: string, reason: ErrorReason = 'invalid_params'): RpcError {
  return namedError(ErrorCode.invalidParams, message, reason);
}

export function internalError(
  message: string,
  reason: ErrorReason = 'internal_error',
  detail?: ErrorDetail,
): RpcError {
  return namedError(ErrorCode.internalError, message, reason, detail);
}

export function notFound(message: string, reason: ErrorReason, detail?: ErrorDetail): RpcError {
  return namedError(ErrorCode.notFound, message, reason, detail);
}

export function overloaded(message: string): RpcError {
  return namedError(ErrorCode.overloaded, message, 'overloaded');
}

export function methodNotFound(method: string): RpcError {
  const message = `exec-server stub does not implement \`${method}\` yet`;
  return namedError(ErrorCode.methodNotFound, message, 'method_not_found');
}

/** A message that cannot be understood. The message text is the detail alone, without who sent it. */
export class MalformedMessageError extends Error {
  static {
    MalformedMessageError.prototype.name = 'MalformedMessageError';
  }
}
