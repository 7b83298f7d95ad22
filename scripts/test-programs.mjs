// The programs that tests need beside Node, and the Debian packages that have them.
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

export const TEST_PROGRAMS = new Map([
  ['bash', 'bash'],
  ['bwrap', 'bubblewrap'],
  ['chromium', 'chromium'],
  ['curl', 'curl'],
  ['flock', 'util-linux'],
  ['git', 'git'],
  ['musl-gcc', 'musl-tools'],
  ['perl', 'perl'],
  ['python3', 'python3'],
  ['tmux', 'tmux'],
  ['vim', 'vim'],
  ['zsh', 'zsh'],
]);

/** Those that are not on the search path. */
export function findMissingPrograms(searchPath = process.env.PATH ?? '') {
  return [...TEST_PROGRAMS.keys()].filter((name) => !isOnPath(name, searchPath));
}

export function isOnPath(name, searchPath = process.env.PATH ?? '') {
  return searchPath.split(delimiter).some((directory) => {
    try {
      accessSync(join(directory, name), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
