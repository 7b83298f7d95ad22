import { createHash } from 'node:crypto';
import { access, constants, type FileHandle, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { platform } from 'node:process';
import { createMemoryFile, hasMemoryFiles, sealMemoryFile } from '../../native/memory-file.js';
import { type Architecture, thisArchitecture } from '../bubblewrap/architecture.js';
import { PROGRAM_DIGESTS } from './digests.js';
import { readProgram } from './read-program.js';

/** The part of Linux' O_TMPFILE that is not O_DIRECTORY, which differs between processors. */
const NAMELESS = 0o20000000;
/** Readable and executable by its owner. */
const PROGRAM_MODE = 0o500;
/** Where a file without a name may be made. */
const PLACES = [tmpdir(), '/dev/shm', '/var/tmp'];

/** The sandbox program cannot be used on this machine; the message says why. */
export class ProgramUnavailableError extends Error {
  override readonly name = 'ProgramUnavailableError';
}

let opening: Promise<number> | undefined;

/**
 * A descriptor of the sandbox program, close-on-exec, which stays open for as long as this process runs. A child gets it
 * as an extra descriptor and executes it by `/proc/self/fd`. What it leads to has no path and is checked once, so that
 * nothing that a child can write is ever executed. Throws {@link ProgramUnavailableError}, and tries again then.
 */
export function openProgram(): Promise<number> {
  opening ??= load().catch((error: unknown) => {
    opening = undefined;
    throw error;
  });
  return opening;
}

async function load(): Promise<number> {
  const architecture = thisArchitecture();
  if (platform !== 'linux') throw new ProgramUnavailableError(`there is no sandbox for ${platform}`);
  if (architecture === undefined)
    throw new ProgramUnavailableError(`there is no sandbox for ${process.arch} processors`);
  if (!hasMemoryFiles())
    throw new ProgramUnavailableError('the native launcher, which the sandbox needs, cannot be used');
  const bytes = await readProgram(architecture);
  if (bytes === undefined)
    throw new ProgramUnavailableError(`sandbox-${architecture} is missing from this installation`);
  checkDigest(bytes, architecture);
  return makeMemoryFile(bytes) ?? (await makeNamelessFile(bytes));
}

function checkDigest(bytes: Buffer, architecture: Architecture): void {
  const digest = createHash('sha256').update(bytes).digest('hex');
  const expected = PROGRAM_DIGESTS[architecture];
  if (digest !== expected)
    throw new ProgramUnavailableError(
      `sandbox-${architecture} has the SHA-256 digest ${digest} instead of ${expected}: install the package again`,
    );
}

/** Nothing where the system forbids programs in memory, as `vm.memfd_noexec` can. */
function makeMemoryFile(bytes: Buffer): number | undefined {
  try {
    const file = createMemoryFile(bytes, { executable: true });
    sealMemoryFile(file);
    return file.fd;
  } catch {
    return undefined;
  }
}

/** A file on disk that no path leads to, in the first directory that takes programs. */
async function makeNamelessFile(bytes: Buffer): Promise<number> {
  for (const directory of PLACES) {
    try {
      return await writeNamelessFile(directory, bytes);
    } catch {
      // The next one may be there, be ours to write, and take programs.
    }
  }
  throw new ProgramUnavailableError(
    `neither memory, which vm.memfd_noexec decides about, nor any of ${PLACES.join(', ')} takes programs`,
  );
}

async function writeNamelessFile(directory: string, bytes: Buffer): Promise<number> {
  const written = await open(directory, NAMELESS | constants.O_DIRECTORY | constants.O_RDWR, PROGRAM_MODE);
  let program: FileHandle | undefined;
  try {
    await written.writeFile(bytes);
    const path = `/proc/self/fd/${written.fd}`;
    // Refused in a file system that is mounted with `noexec`.
    await access(path, constants.X_OK);
    program = await open(path, constants.O_RDONLY);
  } finally {
    // What somebody may write cannot be executed.
    await written.close();
  }
  kept.push(program);
  return program.fd;
}

/** Handles that are collected close their descriptors. */
const kept: FileHandle[] = [];
