import { accessSync, constants, statSync } from 'node:fs';
import { OsError } from '../os-error.js';
import { EACCES, ENOENT } from './constants.js';

/** Where a program is looked for when the child has no PATH; the reference server looks there. */
export const DEFAULT_SEARCH_PATH = '/usr/local/bin:/bin:/usr/bin';

/**
 * Finds the file that a program name means for a child with the given PATH and working directory. The result may be
 * relative, as an element of PATH may be; it then counts from `cwd`, like a name with a slash, which is returned as it
 * is. Throws ENOENT, or EACCES when only files were found that cannot be executed.
 */
export function resolveProgram(name: string, searchPath: string | undefined, cwd: Uint8Array): string {
  if (name.includes('/')) return name;
  if (name === '') throw new OsError(ENOENT, 'execve');
  let denied = false;
  for (const directory of (searchPath ?? DEFAULT_SEARCH_PATH).split(':')) {
    const candidate = directory === '' ? `./${name}` : `${directory}/${name}`;
    const verdict = judgeCandidate(candidate, cwd);
    if (verdict === 'executable') return candidate;
    if (verdict === 'denied') denied = true;
  }
  throw new OsError(denied ? EACCES : ENOENT, 'execve');
}

function judgeCandidate(candidate: string, cwd: Uint8Array): 'executable' | 'denied' | 'absent' {
  const path = candidate.startsWith('/') ? candidate : Buffer.concat([cwd, Buffer.from(`/${candidate}`)]);
  try {
    if (!statSync(path).isFile()) return 'denied';
    accessSync(path, constants.X_OK);
    return 'executable';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EACCES' ? 'denied' : 'absent';
  }
}
