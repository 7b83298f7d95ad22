import { accessSync, constants, statSync } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import type { Known } from '../loop-turn.js';
import { OsError } from '../os-error.js';
import { EACCES, ENOENT } from './constants.js';

/** Where a program is looked for when the child has no PATH; the reference server looks there. */
const DEFAULT_SEARCH_PATH = '/usr/local/bin:/bin:/usr/bin';

/**
 * Finds the file that a program name means for a child with the given PATH and working directory. The result may be
 * relative, as an element of PATH may be; it then counts from `cwd`, like a name with a slash, which is returned as it
 * is. Throws or rejects with ENOENT, or EACCES when only files were found that cannot be executed. The search leaves the
 * event loop free: an element of PATH may be on a file system that does not answer, and there may be thousands of them.
 */
export function resolveProgram(name: string, searchPath: string | undefined, cwd: Uint8Array): Known<string> {
  return name.includes('/') ? name : search(name, searchPath, cwd);
}

/** The same at once. It waits for file systems, however long they take: for programs that the server itself needs. */
export function resolveProgramSync(name: string, searchPath: string | undefined, cwd: Uint8Array): string {
  if (name.includes('/')) return name;
  let denied = false;
  for (const candidate of listCandidates(name, searchPath)) {
    const verdict = judgeCandidateSync(locate(candidate, cwd));
    if (verdict === 'executable') return candidate;
    if (verdict === 'denied') denied = true;
  }
  throw notFound(denied);
}

/** One after the other: where the first has it, nobody else is asked. */
async function search(name: string, searchPath: string | undefined, cwd: Uint8Array): Promise<string> {
  let denied = false;
  for (const candidate of listCandidates(name, searchPath)) {
    const verdict = await judgeCandidate(locate(candidate, cwd));
    if (verdict === 'executable') return candidate;
    if (verdict === 'denied') denied = true;
  }
  throw notFound(denied);
}

function listCandidates(name: string, searchPath: string | undefined): string[] {
  if (name === '') return [];
  const directories = (searchPath ?? DEFAULT_SEARCH_PATH).split(':');
  return directories.map((directory) => (directory === '' ? `./${name}` : `${directory}/${name}`));
}

function locate(candidate: string, cwd: Uint8Array): string | Buffer {
  return candidate.startsWith('/') ? candidate : Buffer.concat([cwd, Buffer.from(`/${candidate}`)]);
}

function notFound(denied: boolean): OsError {
  return new OsError(denied ? EACCES : ENOENT, 'execve');
}

type Verdict = 'executable' | 'denied' | 'absent';

async function judgeCandidate(path: string | Buffer): Promise<Verdict> {
  try {
    if (!(await stat(path)).isFile()) return 'denied';
    await access(path, constants.X_OK);
    return 'executable';
  } catch (error) {
    return judgeFailure(error);
  }
}

function judgeCandidateSync(path: string | Buffer): Verdict {
  try {
    if (!statSync(path).isFile()) return 'denied';
    accessSync(path, constants.X_OK);
    return 'executable';
  } catch (error) {
    return judgeFailure(error);
  }
}

function judgeFailure(error: unknown): Verdict {
  return (error as NodeJS.ErrnoException).code === 'EACCES' ? 'denied' : 'absent';
}
