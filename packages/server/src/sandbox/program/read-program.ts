import { readFile } from 'node:fs/promises';
import type { Architecture } from '../bubblewrap/architecture.js';

/** The sandbox program for a processor, or `undefined` where it is missing. The bundle of the command replaces this module. */
export async function readProgram(architecture: Architecture): Promise<Buffer | undefined> {
  try {
    return await readFile(new URL(`../../../sandbox/sandbox-${architecture}`, import.meta.url));
  } catch {
    return undefined;
  }
}
