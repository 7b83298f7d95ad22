/**
 * Names of failures, sent as `data.code` of every error. A name keeps its meaning for good; more may be added, so that a
 * client treats one that it does not know like its numeric code.
 */
export const ERROR_REASONS = {
  malformed_message: 'The message is not a JSON-RPC message.',
  invalid_request: 'The request is refused in the present state, and no name below fits.',
  invalid_params: 'The parameters cannot be decoded, or their values are refused.',
  method_not_found: 'The method does not exist, or the server does not offer it.',
  internal_error: 'The server failed, and no name below fits.',
  overloaded: 'A limit on work in flight is reached. The request was not started and may be sent again.',
  limit_reached: 'A limit on what may exist at once is reached.',
  shutting_down: 'The server is ending.',
  not_initialized: 'The handshake is not complete.',
  already_initialized: 'The handshake was complete before.',
  session_unknown: 'The session does not exist, has expired, or belongs to another principal.',
  session_attached: 'The session is attached to another connection, which is alive.',
  process_unknown: 'The process does not exist, and the server remembers no such id.',
  process_expired: 'The process existed, and the server has forgotten its results.',
  process_exists: 'The id of a process to be started is taken.',
  process_not_attached: 'The process belongs to another session, and is not attached for control.',
  no_terminal: 'The process has no terminal.',
  stdin_closed: 'The standard input of the process is closed, or was never open.',
  start_cancelled: 'The start was given up before the program ran.',
  start_forbidden: 'The configuration of the server forbids the start.',
  spawn_failed: 'The program could not be run. `errno` says why, where a system call failed.',
  argument_too_long: 'Arguments and variables are larger than the system takes.',
  sandbox_refused: 'The sandbox policy cannot be kept on this machine.',
  foreign_path: 'The path URI names no path of this platform.',
  id_taken: 'The id of a file handle or of a watch is taken.',
  handle_unknown: 'The file handle does not exist.',
  file_not_found: 'The file or directory does not exist.',
  file_exists: 'The file or directory exists.',
  permission_denied: 'The system or the sandbox denies access.',
  not_a_directory: 'A part of the path is not a directory.',
  is_a_directory: 'The path names a directory.',
  directory_not_empty: 'The directory is not empty.',
  disk_full: 'No space is left, or a quota is reached.',
  os_error: 'A system call failed. `errno` names the failure.',
  http_failed: 'The HTTP request got no complete response.',
} as const;

/** The name of a failure. */
export type ErrorReason = keyof typeof ERROR_REASONS;

/** What `data` of an error holds. */
export interface ErrorData {
  readonly code: ErrorReason;
  /** The failure of a system call, such as `ENOENT`. */
  readonly errno?: string;
}

/** The name of the failure that `data` of an error carries; absent where the server sends none. */
export function readErrorReason(data: unknown): string | undefined {
  return readText(data, 'code');
}

/** The failed system call that `data` of an error names, such as `ENOENT`; absent where the server names none. */
export function readErrno(data: unknown): string | undefined {
  return readText(data, 'errno');
}

function readText(data: unknown, member: keyof ErrorData): string | undefined {
  if (typeof data !== 'object' || data === null) return undefined;
  const value = (data as Record<string, unknown>)[member];
  return typeof value === 'string' ? value : undefined;
}
