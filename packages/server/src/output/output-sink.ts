import type { ProcessExit } from '../process/process-exit.js';
import type { RetainedChunk } from './retained-chunk.js';

/**
 * A reader of one process's events, told in order as they happen. The engine hands over buffers; what a sink makes
 * of them (JSON text, a binary frame, an in-process callback) is its own business.
 */
export interface OutputSink {
  output(chunk: RetainedChunk): void;
  exited(seq: number, exit: ProcessExit): void;
  closed(seq: number): void;
  /** False while the reader is behind; the process's output then waits in the kernel. */
  readonly writable: boolean;
  /** Resolves when the reader has caught up or is gone. */
  whenWritable(): Promise<void>;
}
