import { realpath, stat } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join, resolve } from 'node:path';

type Environment = Readonly<Record<string, string | undefined>>;

/** The server's environment names a directory that cannot be used. */
export class CodexHomeError extends Error {
  override readonly name = 'CodexHomeError';
  constructor(path: string, problem: string) {
    super(`CODEX_HOME points to ${JSON.stringify(path)}, but that path ${problem}`);
  }
}

/** The user's home directory: what the environment says, else what the passwd entry says. */
export function findUserHome(serverEnv: Environment): string {
  if (serverEnv.HOME) return resolve(serverEnv.HOME);
  try {
    return userInfo().homedir;
  } catch {
    // A uid without a passwd entry, as containers have it.
    return '/';
  }
}

/**
 * Where the user keeps configuration, skills and plugins: `CODEX_HOME`, which must exist then, else `~/.codex`, which
 * need not. Throws {@link CodexHomeError}.
 */
export async function findCodexHome(serverEnv: Environment): Promise<string> {
  const named = serverEnv.CODEX_HOME;
  if (!named) return join(findUserHome(serverEnv), '.codex');
  const path = await realpath(named).catch(() => undefined);
  if (path === undefined) throw new CodexHomeError(named, 'does not exist');
  if (!(await stat(path)).isDirectory()) throw new CodexHomeError(named, 'is not a directory');
  return path;
}
