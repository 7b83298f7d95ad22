import { FALLBACK_SHELL, POSIX_SHELLS } from '../process/shell.js';
import type { SessionClient } from '../session-client.js';
import { UnifiedExecError } from './errors.js';

const POWERSHELLS: ReadonlySet<string> = new Set(['pwsh', 'powershell']);

/** The command that has a shell run a text: of the given shell, or the one of the server's user. */
export async function toCommandLine(
  client: SessionClient,
  {
    cmd,
    shell,
    login,
  }: { readonly cmd: string; readonly shell: string | undefined; readonly login: boolean },
): Promise<readonly string[]> {
  if (shell !== undefined) {
    const argv = argvOf(shell, shell, cmd, login);
    if (argv === undefined) throw UnifiedExecError.unknownShell(shell);
    return argv;
  }
  const { name, path } = (await client.environment()).shell;
  return argvOf(name, path, cmd, login) ?? posixArgv(FALLBACK_SHELL, cmd, login);
}

/** Absent for a shell whose options are not known. */
function argvOf(name: string, path: string, cmd: string, login: boolean): readonly string[] | undefined {
  const kind = programName(name);
  if (POSIX_SHELLS.has(kind)) return posixArgv(path, cmd, login);
  if (POWERSHELLS.has(kind)) return [path, ...(login ? [] : ['-NoProfile']), '-Command', cmd];
  return kind === 'cmd' ? [path, '/c', cmd] : undefined;
}

function posixArgv(path: string, cmd: string, login: boolean): readonly string[] {
  return [path, login ? '-lc' : '-c', cmd];
}

/** `C:\Tools\PwSh.exe` → `pwsh`. */
function programName(path: string): string {
  const name = path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);
  return name.toLowerCase().replace(/\.exe$/, '');
}
