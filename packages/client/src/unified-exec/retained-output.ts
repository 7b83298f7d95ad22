import type { CollectedOutput } from '../process/collected-output.js';
import { HeadTailBuffer } from '../process/head-tail-buffer.js';
import { decodeText } from '../process/utf8.js';
import { MAX_RETAINED_BYTES } from './limits.js';

/** A buffer for output: half of what it keeps is the beginning, half the newest. */
export function createRetainedOutput(maxBytes: number = MAX_RETAINED_BYTES): HeadTailBuffer {
  const headBytes = Math.floor(maxBytes / 2);
  return new HeadTailBuffer({ headBytes, tailBytes: maxBytes - headBytes });
}

/** The line that stands for bytes that were not kept. */
export function omissionLine(bytes: number): string {
  return `... ${bytes} bytes omitted ...`;
}

/** What was kept, as text, with a line of its own where bytes are missing. What is no UTF-8 becomes U+FFFD. */
export function retainedText(output: CollectedOutput): string {
  if (output.droppedBytes === 0) return decodeText(output.bytes());
  return `${decodeText(output.head)}\n${omissionLine(output.droppedBytes)}\n${decodeText(output.tail)}`;
}
