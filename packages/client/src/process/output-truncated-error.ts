import { ExecServerError } from '../errors.js';
import type { KeptOutput } from './collected-output.js';
import type { MissedEvents } from './process-result.js';

/** All of an output was asked for, and only its beginning and its end were kept. */
export class OutputTruncatedError extends ExecServerError implements KeptOutput {
  override readonly name = 'OutputTruncatedError';
  /** Its first bytes. */
  readonly head: Uint8Array;
  /** Its newest bytes. */
  readonly tail: Uint8Array;
  /** Bytes that were received in all. */
  readonly totalBytes: number;
  /** Bytes between head and tail that were not kept. */
  readonly droppedBytes: number;
  /** Events that never came, so that their output is in no count. Usually none. */
  readonly missed: readonly MissedEvents[];

  constructor(name: string, { head, tail, totalBytes }: KeptOutput, missed: readonly MissedEvents[] = []) {
    const droppedBytes = totalBytes - head.length - tail.length;
    super('output_truncated', describe(name, totalBytes, droppedBytes, missed));
    this.head = head;
    this.tail = tail;
    this.totalBytes = totalBytes;
    this.droppedBytes = droppedBytes;
    this.missed = missed;
  }
}

function describe(
  name: string,
  totalBytes: number,
  droppedBytes: number,
  missed: readonly MissedEvents[],
): string {
  const excerpt = "`excerpt()` has what was kept, and so has `text()` with `output: { truncate: 'middle' }`";
  if (droppedBytes > 0) {
    const lost = `${droppedBytes} of the ${totalBytes} bytes of ${name} were not kept`;
    return `${lost}: raise \`output.headBytes\` or \`output.tailBytes\`, or read it as it comes; ${excerpt}`;
  }
  const ranges = missed.map(({ fromSeq, toSeq }) => `${fromSeq} to ${toSeq}`).join(', ');
  return `${name} is incomplete, because the server no longer had events ${ranges}; ${excerpt}`;
}
