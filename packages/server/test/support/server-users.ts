import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { NOBODY } from './cgroups.js';

const BUILT_SERVER = fileURLToPath(new URL('../../../cli/bin/exec-server.js', import.meta.url));

/** How to run the server as somebody: as whoever runs the tests, and where that is root, as a user without rights, too. */
export const SERVER_USERS = {
  'this user': [process.execPath, BUILT_SERVER],
  nobody: [
    'setpriv',
    `--reuid=${NOBODY}`,
    `--regid=${NOBODY}`,
    '--clear-groups',
    process.execPath,
    BUILT_SERVER,
  ],
} as const;

/**
 * Whether the server can run as {@link SERVER_USERS} has it for nobody: only root can, and not where the checkout or Node
 * is in a private directory.
 */
export function canBecomeNobody(directory: string): boolean {
  if (process.getuid?.() !== 0) return false;
  const [program, ...args] = SERVER_USERS.nobody;
  const options = args.slice(0, -2);
  // A shell between them: `setpriv` itself still finds with the rights of root what it runs.
  const command = ['/bin/sh', '-c', '"$0" "$1" --version', ...args.slice(-2)];
  const { status } = spawnSync(program, [...options, ...command], { cwd: directory, stdio: 'ignore' });
  return status === 0;
}
