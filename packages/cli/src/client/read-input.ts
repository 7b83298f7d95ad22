import { fstatSync, statSync } from 'node:fs';
import { devNull } from 'node:os';
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

/**
 * Whether there is nothing to read and never will be. A command finds the same where it is given no stdin at all, and that
 * every server can do.
 */
export function isNullDevice({ fd }: InputStream): boolean {
  if (fd === undefined) return false;
  try {
    const stats = fstatSync(fd);
    return stats.isCharacterDevice() && stats.rdev === statSync(devNull).rdev;
  } catch {
    return false;
  }
}
