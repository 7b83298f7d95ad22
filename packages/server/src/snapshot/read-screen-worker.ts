import { readFileSync } from 'node:fs';

/** The worker in one file, which the build makes; sources that run as they are take the build's. */
const PLACES = ['./screen-worker.cjs', '../../dist/snapshot/screen-worker.cjs'];

/** The worker's program, or `undefined` where it was not built. The bundle of the command replaces this module. */
export function readScreenWorker(): Buffer | undefined {
  return PLACES.map(tryRead).find((found) => found !== undefined);
}

function tryRead(place: string): Buffer | undefined {
  try {
    return readFileSync(new URL(place, import.meta.url));
  } catch {
    return undefined;
  }
}
