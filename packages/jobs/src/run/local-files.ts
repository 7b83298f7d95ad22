import { watch } from 'node:fs';
import * as fs from 'node:fs/promises';
import type { PlaceFiles } from '../results/work-place.js';

/** The files of workers on this machine. */
export const localFiles: PlaceFiles = fs;

/** How often a directory is looked at that cannot be watched, in milliseconds. */
const LOOK_INTERVAL_MS = 1_000;

/** Watches a directory of this machine; where the system has no more watches, it is looked at now and then. */
export function watchLocally(directory: string, onChange: (name?: string) => void): () => void {
  let stop = () => {};
  const look = () => {
    const timer = setInterval(() => onChange(), LOOK_INTERVAL_MS);
    stop = () => clearInterval(timer);
  };
  try {
    const watcher = watch(directory, { persistent: false }, (_, name) => onChange(name ?? undefined));
    stop = () => watcher.close();
    watcher.on('error', () => {
      watcher.close();
      look();
    });
  } catch {
    look();
  }
  return () => stop();
}
