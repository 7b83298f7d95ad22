import { readFileSync } from 'node:fs';
import type { DialOptions } from '@exec-server/client';
import { CommandError } from '../command-error.js';
import type { ConnectionFlags } from '../commands/connection-options.js';
import { UsageError } from '../usage-error.js';

/** The server that a command was told to talk to. */
export interface ServerChoice {
  /** Absent for a server of the command's own, in this process. */
  readonly url: string | undefined;
  readonly dialOptions: DialOptions;
}

/** Flags win over the environment. What the environment has beyond need is left alone; such flags are refused. */
export function resolveServer(
  { connect, tokenFile, tlsCa }: ConnectionFlags,
  env: Readonly<Record<string, string | undefined>>,
): ServerChoice {
  const url = connect ?? (env.EXEC_SERVER_URL || undefined);
  const isWebSocket = url !== undefined && /^wss?:/i.test(url);
  if (tokenFile !== undefined && !isWebSocket) throw refuse('--token-file <FILE>', 'ws:// and wss://', url);
  if (tlsCa !== undefined && !/^wss:/i.test(url ?? '')) throw refuse('--tls-ca <FILE>', 'wss://', url);
  const token = isWebSocket ? readToken(tokenFile, env) : undefined;
  return {
    url,
    dialOptions: {
      ...(token !== undefined && { token }),
      ...(tlsCa !== undefined && { tls: { ca: readInput('--tls-ca', tlsCa) } }),
    },
  };
}

function refuse(flags: string, where: string, url: string | undefined): UsageError {
  return new UsageError(
    url === undefined
      ? `the argument '${flags}' needs a server: give '--connect <URL>' or set EXEC_SERVER_URL`
      : `the argument '${flags}' is for ${where} only`,
  );
}

function readToken(
  file: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): string | undefined {
  if (file === undefined) return env.EXEC_SERVER_TOKEN || undefined;
  // The server does not count white space around it either.
  const token = readInput('--token-file', file).trim();
  if (token === '') throw new CommandError(`the file of --token-file is empty: ${file}`);
  return token;
}

function readInput(flag: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new CommandError(`cannot read the file of ${flag}: ${(error as Error).message}`, { cause: error });
  }
}
