import { mkdirSync, symlinkSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { onTestFinished } from 'vitest';

/** Others may remove what is to be renamed; the thread goes on with what is there. */
const SWAP = `
const { renameSync } = require('node:fs');
const { workerData: { path, aside, link } } = require('node:worker_threads');
const steps = [[path, aside], [link, path], [path, link], [aside, path]];
for (;;) {
  for (const [from, to] of steps) {
    try {
      renameSync(from, to);
    } catch {}
  }
}
`;

/** Makes a directory and, beside it, a link to `target` that {@link startSwapping} exchanges for it. */
export function makeSwappable(path: string, target: string): void {
  mkdirSync(path, { recursive: true });
  symlinkSync(target, `${path}-link`);
}

/**
 * Starts a thread that lets the link take the directory's place and makes way again, as fast as it can, until the test
 * ends.
 */
export function startSwapping(path: string): void {
  const workerData = { path, aside: `${path}-aside`, link: `${path}-link` };
  const thread = new Worker(SWAP, { eval: true, workerData });
  onTestFinished(async () => {
    await thread.terminate();
  });
}
