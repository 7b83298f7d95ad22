import { access, constants, stat } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { runBrieflyAside } from '../../native/run-briefly.js';

/** The oldest version with everything that is asked of it here. */
const OLDEST_VERSION = '0.5.0';

/** Longest that `bwrap --version` may take, in milliseconds. */
const VERSION_TIMEOUT_MS = 5_000;

const INSTALL_HINT =
  'install bubblewrap, as with `apt-get install bubblewrap`, `dnf install bubblewrap`, `pacman -S bubblewrap` or ' +
  '`apk add bubblewrap`';

/** The sandbox program of this system, or why it cannot be used. */
export type Bubblewrap =
  | { readonly available: true; readonly path: string; readonly version: string }
  | {
      readonly available: false;
      readonly path?: string;
      readonly version?: string;
      readonly reason: string;
      /** What the user can do about it. */
      readonly hint?: string;
    };

let finding: Promise<Bubblewrap> | undefined;

/** Finds bubblewrap. It is looked for until it is found, so that an installation counts without a restart. */
export function findBubblewrap(): Promise<Bubblewrap> {
  const looking = finding ?? lookForBubblewrap();
  finding = looking;
  void looking.then(({ available }) => {
    if (!available && finding === looking) finding = undefined;
  });
  return looking;
}

async function lookForBubblewrap(): Promise<Bubblewrap> {
  const path = await findProgram('bwrap');
  if (path === undefined) return unavailable('bubblewrap (`bwrap`) is not installed', INSTALL_HINT);
  const version = await readVersion(path);
  if (version === undefined)
    return { ...unavailable(`${path} does not say its version`, INSTALL_HINT), path };
  if (compareVersions(version, OLDEST_VERSION) < 0)
    return {
      ...unavailable(`bubblewrap ${version} is older than ${OLDEST_VERSION}`, INSTALL_HINT),
      path,
      version,
    };
  return { available: true, path, version };
}

function unavailable(reason: string, hint: string): Bubblewrap & { available: false } {
  return { available: false, reason, hint };
}

/** Where the server's own PATH has a program; a relative part of it would depend on where the server was started. */
async function findProgram(name: string): Promise<string | undefined> {
  const directories = process.env.PATH?.split(delimiter).filter((directory) => directory.startsWith('/'));
  for (const directory of directories ?? []) {
    const path = join(directory, name);
    try {
      await access(path, constants.X_OK);
      if ((await stat(path)).isFile()) return path;
    } catch {
      // The next directory may have it.
    }
  }
  return undefined;
}

async function readVersion(path: string): Promise<string | undefined> {
  const { stdout } = await runBrieflyAside(path, ['--version'], VERSION_TIMEOUT_MS);
  return /\b\d+\.\d+(?:\.\d+)?\b/.exec(stdout)?.[0];
}

/** Negative when `a` is older than `b`. */
function compareVersions(a: string, b: string): number {
  const left = a.split('.').map(Number);
  const right = b.split('.').map(Number);
  for (let index = 0; index < Math.max(left.length, right.length); index++) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
