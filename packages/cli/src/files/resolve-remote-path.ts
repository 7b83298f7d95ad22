import type { Machine } from '@exec-server/client';
import { nativePathText, pathUriToNative } from '@exec-server/protocol';
import { CommandError } from '../command-error.js';

/**
 * The absolute path on the server's machine: `~` is the home of its user, and what is relative is so to the directory
 * that it was started in, where commands run as well.
 */
export async function resolveRemotePath(machine: Machine, path: string): Promise<string> {
  if (path.startsWith('/')) return path;
  const { cwd, userHomeDir } = await machine.environment();
  const inHome = /^~(?=\/|$)/.test(path);
  const base = inHome ? userHomeDir : cwd;
  if (base === null || base === undefined)
    throw new CommandError(`the server does not tell what '${path}' is relative to`, {
      hint: 'Give an absolute path.',
    });
  const rest = inHome ? path.slice('~/'.length) : path;
  const directory = nativePathText(pathUriToNative(base));
  return rest === '' ? directory : `${directory === '/' ? '' : directory}/${rest}`;
}
