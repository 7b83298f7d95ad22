import { CapabilityMissingError, type ErrorName, ExecServerError, RejectedError } from '@exec-server/client';
import { CommandError } from '../command-error.js';
import { ExitCode } from '../exit-codes.js';

const UNAUTHORIZED = 401;
const FORBIDDEN = 403;

const HINTS: Partial<Record<ErrorName, string>> = {
  connect_timeout: 'Check the address, and that no firewall is in the way.',
  initialize_timeout: 'Something listens there, but it does not answer as an exec-server does.',
  protocol: 'What listens there does not answer as an exec-server does.',
  connection_lost:
    'What became of the command is not known; `exec-server ps --all` tells once the server is back.',
  session_expired: 'The server has ended what ran in that session; start again.',
  capability_missing:
    'The server is older, or was started without it; `exec-server doctor` tells what it has.',
  spawn_failed:
    'Program and directory must be there on the machine of the server, and the program in its PATH.',
  argument_too_long: 'Pass long texts through stdin or a file.',
};

/** Says what an error of the client means for the person at the command line. Other errors stay as they are. */
export function explainError(error: unknown, url: string | undefined): unknown {
  if (!(error instanceof ExecServerError)) return error;
  const { message, code } = error;
  const hint = hintFor(error, url);
  const exitCode = code === 'spawn_failed' ? spawnFailureCode(error) : undefined;
  return new CommandError(message, {
    cause: error,
    ...(hint !== undefined && { hint }),
    ...(exitCode !== undefined && { exitCode }),
  });
}

function hintFor(error: ExecServerError, url: string | undefined): string | undefined {
  if (error.code === 'connect_failed') return connectHint(error.cause, url);
  if (error.code === 'process_unknown' || error.code === 'process_expired') return unknownProcessHint(url);
  if (error instanceof CapabilityMissingError && error.capability === 'processCloseStdin')
    return 'The server cannot pass on the end of stdin; --no-stdin does without.';
  return HINTS[error.code];
}

function connectHint(cause: unknown, url: string | undefined): string {
  const status = memberOf(cause, 'status');
  if (status === UNAUTHORIZED)
    return 'The server wants a token: give --token-file FILE or set EXEC_SERVER_TOKEN.';
  if (status === FORBIDDEN)
    return 'The server does not take connections for that name; see its --allow-host.';
  if (typeof status === 'number') return 'Something else than an exec-server answers there.';
  if (/^(CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|ERR_TLS_)/.test(String(causeCode(cause))))
    return 'Its certificate is not trusted; give the authority that signed it by --tls-ca FILE.';
  return `Is a server running there? One is started by: exec-server --listen ${url ?? 'URL'}`;
}

/** What to do about a process that the server does not have. */
export function unknownProcessHint(url: string | undefined): string {
  if (url === undefined)
    return 'No server was named, so a new one was asked; give --connect URL or set EXEC_SERVER_URL.';
  return '`exec-server ps --all` lists the processes there are.';
}

function spawnFailureCode(error: ExecServerError): number {
  const errno = error instanceof RejectedError ? memberOf(error.data, 'errno') : undefined;
  const isMissing = errno === undefined ? /os error 2\b/.test(error.message) : errno === 'ENOENT';
  return isMissing ? ExitCode.notFound : ExitCode.cannotRun;
}

/** The system's name of what went wrong, from the error or one that led to it. */
function causeCode(error: unknown): unknown {
  const cause = memberOf(error, 'cause');
  return memberOf(cause, 'code') ?? memberOf(error, 'code');
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}
