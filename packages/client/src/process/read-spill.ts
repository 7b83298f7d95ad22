import type { ResultOf } from '@exec-server/protocol';
import { ExecServerError } from '../errors.js';
import { toNativeText } from '../fs/remote-path.js';
import type { SessionClient } from '../session-client.js';
import type { SpillFile } from './process-result.js';
import type { ProcessTarget } from './process-target.js';

/**
 * Asks where the output of a process that has ended was written. Waits for the end of the writing where the output is
 * complete. Absent when the server can no longer be asked.
 */
export async function readSpill(
  client: SessionClient,
  target: ProcessTarget,
): Promise<SpillFile | undefined> {
  try {
    const { spill } = await client.call('process/wait', { ...target }, { resend: true });
    return toSpillFile(spill);
  } catch (error) {
    if (error instanceof ExecServerError) return undefined;
    throw error;
  }
}

/** The file as the wire describes it. */
export function toSpillFile(spill: ResultOf<'process/wait'>['spill']): SpillFile | undefined {
  if (spill === undefined || spill === null) return undefined;
  const { path, bytes: sizeBytes, truncated, complete, error } = spill;
  return { path: toNativeText(path), sizeBytes, truncated, complete, error: error ?? undefined };
}
