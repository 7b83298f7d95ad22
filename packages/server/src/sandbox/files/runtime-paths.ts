import { realpathSync } from 'node:fs';
import { runBriefly } from '../../native/run-briefly.js';

/** Longest that listing the libraries may take, in milliseconds. */
const LIST_TIMEOUT_MS = 5_000;

/** The files without which this program's interpreter does not start. */
export interface Runtime {
  readonly program: string;
  readonly paths: readonly Buffer[];
  /** Whether `paths` is all of it; otherwise it needs what every program needs. */
  readonly complete: boolean;
}

let found: Runtime | undefined;

/** Finds Node and the libraries that it is linked with. Blocks the loop for the first call. */
export function findRuntime(): Runtime {
  if (found !== undefined) return found;
  const program = realpathSync(process.execPath);
  const { status, stdout } = runBriefly('ldd', [program], LIST_TIMEOUT_MS);
  const runtime = describeRuntime(program, parseLibraries(stdout));
  // One that did not start for want of descriptors may do so the next time.
  if (status !== null) found = runtime;
  return runtime;
}

function describeRuntime(program: string, libraries: readonly string[]): Runtime {
  return {
    program,
    paths: [program, ...libraries].map((path) => Buffer.from(path)),
    complete: libraries.length > 0,
  };
}

/** The paths that `ldd` lists: `name => /path (address)`, or `/path (address)` of the loader. */
export function parseLibraries(listing: string): string[] {
  return Array.from(
    listing.matchAll(/^[\t ]*(?:\S+ => )?(\/\S+) \(0x[0-9a-f]+\)$/gm),
    ([, path = '']) => path,
  );
}
