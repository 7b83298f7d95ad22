import { delimiter } from 'node:path';
import { platform } from 'node:process';
import { resolveProgram } from '../../native/exec-path.js';
import { hasMemoryFiles } from '../../native/memory-file.js';
import { runBriefly } from '../../native/run-briefly.js';
import { thisArchitecture } from './architecture.js';

/** The oldest version with everything that is asked of it here. */
export const OLDEST_VERSION = '0.5.0';

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

let found: Bubblewrap | undefined;

/** Finds bubblewrap. It is looked for until it is found, so that an installation counts without a restart. */
export function findBubblewrap(): Bubblewrap {
  if (found?.available !== true) found = lookForBubblewrap();
  return found;
}

/** Whether there is something to make sandboxes with, whatever its version; costs no run of it. */
export function isBubblewrapInstalled(): boolean {
  return platform === 'linux' && thisArchitecture() !== undefined && findProgram('bwrap') !== undefined;
}

function lookForBubblewrap(): Bubblewrap {
  if (platform !== 'linux') return unavailable(`there is no sandbox for ${platform}`);
  if (thisArchitecture() === undefined)
    return unavailable(`there is no sandbox for ${process.arch} processors`);
  if (!hasMemoryFiles()) return unavailable('the native launcher, which the sandbox needs, cannot be used');
  const path = findProgram('bwrap');
  if (path === undefined) return unavailable('bubblewrap (`bwrap`) is not installed', INSTALL_HINT);
  const version = readVersion(path);
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

function unavailable(reason: string, hint?: string): Bubblewrap & { available: false } {
  return { available: false, reason, ...(hint === undefined ? {} : { hint }) };
}

/** Where the server's own PATH has a program; a relative part of it would depend on where the server was started. */
function findProgram(name: string): string | undefined {
  const directories = process.env.PATH?.split(delimiter).filter((directory) => directory.startsWith('/'));
  try {
    return resolveProgram(name, directories?.join(delimiter), Buffer.from('/'));
  } catch {
    return undefined;
  }
}

function readVersion(path: string): string | undefined {
  return /\b\d+\.\d+(?:\.\d+)?\b/.exec(runBriefly(path, ['--version'], VERSION_TIMEOUT_MS).stdout)?.[0];
}

/** Negative when `a` is older than `b`. */
export function compareVersions(a: string, b: string): number {
  const left = a.split('.').map(Number);
  const right = b.split('.').map(Number);
  for (let index = 0; index < Math.max(left.length, right.length); index++) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
