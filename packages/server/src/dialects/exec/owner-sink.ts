import type { OutputSink } from '../../output/output-sink.js';
import type { RetainedChunk } from '../../output/retained-chunk.js';
import type { ProcessExit } from '../../process/process-exit.js';
import type { ConnectionScope } from '../dialect.js';
import { chooseOutputMessages, type OutputMessages } from './output-messages.js';

/** Sends a process's events to the connection that owns it. */
export class OwnerSink implements OutputSink {
  /** Made for the first output: most processes that stay long are silent. */
  #messages: OutputMessages | undefined;

  constructor(
    private readonly connection: ConnectionScope,
    private readonly processId: string,
  ) {}

  get writable(): boolean {
    return this.connection.writable;
  }

  whenWritable(): Promise<void> {
    return this.connection.whenWritable();
  }

  output(chunk: RetainedChunk): void {
    this.#messages ??= chooseOutputMessages(this.connection, this.processId);
    this.#messages.sendOnce(chunk);
  }

  exited(seq: number, exit: ProcessExit): void {
    this.connection.notify('process/exited', { processId: this.processId, ...exitedParams(seq, exit) });
  }

  closed(seq: number): void {
    this.connection.notify('process/closed', { processId: this.processId, seq });
  }
}

/** What `process/exited` tells beside whose exit it is. */
export function exitedParams(seq: number, { exitCode, sandboxDenied, signal, timedOut }: ProcessExit) {
  return { seq, exitCode, sandboxDenied, signal, timedOut };
}
