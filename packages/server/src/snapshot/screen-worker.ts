// Renders screens in a thread of its own. The build puts it into one file, which the server reads before it needs it.
import { parentPort } from 'node:worker_threads';
import { encodeScreen, type ScreenJob } from './render-screen.js';

/** What became of a job. */
export type ScreenAnswer = { readonly screen: Uint8Array<ArrayBuffer> } | { readonly failure: string };

parentPort?.on('message', async (job: ScreenJob) => {
  try {
    const screen = await encodeScreen(job);
    parentPort?.postMessage({ screen } satisfies ScreenAnswer, [screen.buffer]);
  } catch (error) {
    parentPort?.postMessage({ failure: String(error) } satisfies ScreenAnswer);
  }
});
