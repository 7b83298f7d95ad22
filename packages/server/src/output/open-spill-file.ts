import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { callSystem } from '../fs/file-error.js';
import { OsError } from '../os-error.js';
import { SpillFile } from './spill-file.js';

// Close-on-exec comes with every file that Node opens.
const OPEN_FLAGS = constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY;
const FILE_MODE = 0o600;
const DIRECTORY_MODE = 0o700;
/** Permission of others than the owner to add and replace files. */
const FOREIGN_WRITE = 0o022;
/** Characters of a process id that a file name repeats. */
const MAX_NAME_CHARACTERS = 64;

/** Why output cannot be kept in a file. */
export class SpillError extends Error {
  override readonly name = 'SpillError';
}

export interface SpillOptions {
  /** Where the files are made; made itself at first use. @default `exec-server-spill-<uid>` in the system's temporary directory */
  readonly directory?: string | undefined;
  /** Largest file, in bytes. */
  readonly limitBytes: number;
  readonly processId: string;
}

/** An empty spill file whose name nobody can guess. Throws {@link SpillError}. */
export async function openSpillFile({
  directory = defaultDirectory(),
  limitBytes,
  processId,
}: SpillOptions): Promise<SpillFile> {
  const place = resolve(directory);
  await preparePlace(place);
  const path = join(place, `${randomUUID()}-${asFileName(processId)}.log`);
  return new SpillFile(await createFile(path), { path, limitBytes });
}

/** Takes back a file whose process never was. */
export async function discardSpillFile(spill: SpillFile): Promise<void> {
  spill.closed();
  await spill.finished;
  await rm(spill.state.path, { force: true });
}

function defaultDirectory(): string {
  return join(tmpdir(), `exec-server-spill-${process.geteuid?.() ?? 'user'}`);
}

async function preparePlace(place: string): Promise<void> {
  const stats = await attempt(`cannot use the spill directory ${place}`, async () => {
    await mkdir(place, { recursive: true, mode: DIRECTORY_MODE });
    // Not through a link: somebody else could turn it after the look.
    return lstat(place);
  });
  const refuse = (why: string) => new SpillError(`the spill directory ${place} ${why}`);
  if (!stats.isDirectory()) throw refuse('is not a directory');
  if (process.geteuid !== undefined && stats.uid !== process.geteuid())
    throw refuse('belongs to another user');
  if ((stats.mode & FOREIGN_WRITE) !== 0) throw refuse('can be written to by other users');
}

function createFile(path: string): Promise<FileHandle> {
  return attempt(`cannot create the spill file ${path}`, () => open(path, OPEN_FLAGS, FILE_MODE));
}

async function attempt<T>(failure: string, action: () => Promise<T>): Promise<T> {
  try {
    return await callSystem(action());
  } catch (error) {
    if (!(error instanceof OsError)) throw error;
    throw new SpillError(`${failure}: ${error.message}`, { cause: error });
  }
}

/** The id as far as a name of a file can tell it; that it is the only one of its name is the random part's business. */
function asFileName(processId: string): string {
  return processId.slice(0, MAX_NAME_CHARACTERS).replace(/[^A-Za-z0-9._-]/g, '_');
}
