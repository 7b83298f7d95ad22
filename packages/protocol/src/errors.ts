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

export function invalidRequest(message: string): RpcError {
  return new RpcError(ErrorCode.invalidRequest, message);
}

export function invalidParams(message: string): RpcError {
  return new RpcError(ErrorCode.invalidParams, message);
}

export function internalError(message: string): RpcError {
  return new RpcError(ErrorCode.internalError, message);
}

export function notFound(message: string): RpcError {
  return new RpcError(ErrorCode.notFound, message);
}

export function methodNotFound(method: string): RpcError {
  return new RpcError(ErrorCode.methodNotFound, `exec-server stub does not implement \`${method}\` yet`);
}

/** A message that cannot be understood. The message text is the detail alone, without who sent it. */
export class MalformedMessageError extends Error {
  static {
    MalformedMessageError.prototype.name = 'MalformedMessageError';
  }
}
