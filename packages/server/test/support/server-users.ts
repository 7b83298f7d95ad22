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

/** Whether the server can run as {@link SERVER_USERS} has it for nobody: only root can, and not in a private checkout. */
export function canBecomeNobody(directory: string): boolean {
  if (process.getuid?.() !== 0) return false;
  const [program, ...args] = SERVER_USERS.nobody;
  const { status } = spawnSync(program, [...args, '--version'], { cwd: directory, stdio: 'ignore' });
  return status === 0;
}
