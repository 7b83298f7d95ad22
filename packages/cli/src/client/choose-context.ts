import { type Context, ExecServerError, findContext, readContexts } from '@exec-server/client';
import { CommandError } from '../command-error.js';
import type { ConnectionFlags } from '../commands/connection-options.js';
import { UsageError } from '../usage-error.js';

/**
 * The flags with the server of a context in them, where one is meant: by `--on`, or where neither a flag nor
 * `EXEC_SERVER_URL` names a server, by `EXEC_SERVER_CONTEXT` or `context use`. Other flags win over what the context has.
 */
export async function chooseContext<Flags extends ConnectionFlags>(
  flags: Flags,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Flags> {
  if (flags.on !== undefined && flags.connect !== undefined)
    throw new UsageError("the argument '--on <NAME>' cannot be used with '--connect <URL>'", true);
  if (flags.connect !== undefined) return flags;
  if (flags.on === undefined && env.EXEC_SERVER_URL) return flags;
  const context = await findMeant(flags.on ?? (env.EXEC_SERVER_CONTEXT || undefined), env);
  if (context === undefined) return flags;
  const { url: connect, tokenFile, tlsCaFile: tlsCa } = context;
  return {
    ...flags,
    connect,
    ...(tokenFile !== undefined && flags.tokenFile === undefined && { tokenFile }),
    ...(tlsCa !== undefined && flags.tlsCa === undefined && { tlsCa }),
  };
}

async function findMeant(
  name: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Context | undefined> {
  try {
    const meant = name ?? (await readContexts(env)).current;
    return meant === undefined ? undefined : await findContext(meant, env);
  } catch (error) {
    throw error instanceof ExecServerError ? new CommandError(error.message, { cause: error }) : error;
  }
}
