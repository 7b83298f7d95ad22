import { lstat, realpath, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { type CopyOptions, type CopySummary, FileSystemError, type NodeMachine } from '@exec-server/client';
import { CommandError } from '../command-error.js';
import { UsageError } from '../usage-error.js';
import { type Place, placeText, REMOTE_PREFIX } from './place.js';
import { resolveRemotePath } from './resolve-remote-path.js';

/** Errors that say that nothing is there. */
const MISSING: ReadonlySet<string | undefined> = new Set(['ENOENT', 'ENOTDIR']);

const PERMISSION_BITS = 0o7777;

/** What to copy where, as it was asked for. */
export interface CopyRequest {
  readonly sources: readonly Place[];
  readonly destination: Place;
  /** Whether directories are copied, with everything in them. Links stay links then, and are followed otherwise. */
  readonly recursive: boolean;
}

/** One copy, with what it will be called. */
export interface PlannedCopy {
  readonly source: Place;
  readonly target: Place;
  readonly recursive: boolean;
}

/** Throws where nothing of a copy concerns the server. */
export function requireRemoteSide({ sources, destination }: CopyRequest): void {
  if (destination.side === 'local' && sources.some(({ side }) => side === 'local'))
    throw new UsageError(`one side has to be on the server: write it as ${REMOTE_PREFIX}PATH`);
}

/**
 * Finds what each source will be called, as `cp` does: in the destination if that is a directory, or instead of it.
 * Throws before anything is copied where that cannot be said.
 */
export async function planCopies(
  machine: NodeMachine,
  { sources, destination, recursive }: CopyRequest,
): Promise<PlannedCopy[]> {
  const base = await resolvePlace(machine, destination);
  const standing = await kindOf(machine, base, { asLink: false });
  if (sources.length > 1 && standing !== 'directory')
    throw new CommandError(`several things can only be copied into a directory: ${placeText(base)}`, {
      hint: 'Make that directory first, or name one that is there.',
    });
  const copies: PlannedCopy[] = [];
  for (const asked of sources) {
    const source = await resolvePlace(machine, asked);
    const kind = await kindOf(machine, source, { asLink: recursive });
    if (kind === undefined) throw new CommandError(`no such file or directory: ${placeText(source)}`);
    if (kind === 'directory' && !recursive)
      throw new CommandError(`it is a directory: ${placeText(source)}`, {
        hint: 'Give -r to copy it with everything in it.',
      });
    const becomesDirectory = standing === undefined && kind === 'other' && base.path.endsWith('/');
    const target = standing === 'directory' || becomesDirectory ? childOf(base, source.path) : base;
    if (copies.some((copy) => copy.target.path === target.path))
      throw new CommandError(`two of them would be the same file: ${placeText(target)}`);
    copies.push({ source, target, recursive });
  }
  return copies;
}

/** What of a source is not in its copy. */
export type Omissions = Pick<CopySummary, 'skipped' | 'keptModes'>;

/** Copies one thing. What happens on the server alone tells no progress. */
export async function copyPlace(
  machine: NodeMachine,
  { source, target, recursive }: PlannedCopy,
  options: CopyOptions,
): Promise<Omissions> {
  const { fs } = machine;
  if (source.side === 'local') {
    const path = recursive ? source.path : await realpath(source.path);
    return fs.copyIn(path, target.path, options);
  }
  const path = recursive ? source.path : await fs.realpath(source.path);
  if (target.side === 'local') return fs.copyOut(path, target.path, options);
  await fs.cp(path, target.path, { recursive, ...(options.signal && { signal: options.signal }) });
  return { skipped: [], keptModes: await copyDirectoryModes(machine, path, target.path) };
}

/** The server keeps permissions of files, and gives directories those of any new one. Returns whether they were kept. */
async function copyDirectoryModes(
  { fs, client }: NodeMachine,
  source: string,
  target: string,
): Promise<boolean> {
  const root = await fs.stat(source);
  if (!root.isDirectory()) return true;
  if (!(await client.supports('fsSetMode')) || root.mode === undefined) return false;
  const directories = [''];
  for await (const { type, relativePath } of fs.walk(source))
    if (type === 'directory') directories.push(`/${relativePath}`);
  // From below: a directory may be closed to those who look.
  for (const directory of directories.reverse()) {
    const { mode } = await fs.stat(`${source}${directory}`);
    if (mode !== undefined) await fs.chmod(`${target}${directory}`, mode & PERMISSION_BITS);
  }
  return true;
}

async function resolvePlace(machine: NodeMachine, { side, path }: Place): Promise<Place> {
  return { side, path: side === 'local' ? path : await resolveRemotePath(machine, path) };
}

/** What is there, or nothing. With `asLink` a link is what it is, wherever it leads. */
async function kindOf(
  machine: NodeMachine,
  { side, path }: Place,
  { asLink }: { readonly asLink: boolean },
): Promise<'directory' | 'other' | undefined> {
  const { stat: look, lstat: lookAtLink } = side === 'remote' ? machine.fs : { stat, lstat };
  try {
    const found = await (asLink ? lookAtLink(path) : look(path));
    return found.isDirectory() ? 'directory' : 'other';
  } catch (error) {
    if (MISSING.has(errnoOf(error))) return undefined;
    throw error;
  }
}

function errnoOf(error: unknown): string | undefined {
  return error instanceof FileSystemError ? error.errno : (error as NodeJS.ErrnoException).code;
}

/** The name that a source has in a directory. `.` and `..` have none: what they contain is copied. */
function childOf(directory: Place, source: string): Place {
  const name = basename(source);
  if (name === '' || name === '.' || name === '..') return directory;
  return { ...directory, path: `${trimSlashes(directory.path)}/${name}` };
}

function trimSlashes(path: string): string {
  let end = path.length;
  while (path[end - 1] === '/') end--;
  return path.slice(0, end);
}
