import { mkdtempSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';

/** Where a directory may be made; the first that is outside of the temporary directories is taken. */
const PARENTS = [join(process.cwd(), 'node_modules'), '/var/tmp', homedir()];

/**
 * Makes a directory outside of the temporary directories, which every sandbox with a writable workspace can write,
 * wherever the repository is. The caller calls `remove`.
 */
export function makeDirectoryOutsideTemp(): { readonly path: string; readonly remove: () => void } {
  const temporary = ['/tmp', tmpdir()].map((directory) => join(directory, '/'));
  const parent = PARENTS.find((path) => !temporary.some((start) => path.startsWith(start)));
  if (parent === undefined) throw new Error(`all of ${PARENTS.join(', ')} are in a temporary directory`);
  const path = mkdtempSync(join(parent, '.exec-server-test-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}
