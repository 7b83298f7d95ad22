import type { InputStream } from '../command-io.js';

/** What is typed or piped in. A stdin that breaks has ended. */
export async function* readInput(stdin: InputStream): AsyncGenerator<Uint8Array> {
  try {
    // Somebody else may go on reading behind us.
    for await (const chunk of stdin.iterator({ destroyOnReturn: false })) yield chunk as Uint8Array;
  } catch {
    // A terminal that went away has nothing more to say.
  }
}
