import type { Peer } from '@exec-server/rpc';
import { OutputEncoder } from '@exec-server/rpc/node';
import type { OutputSink } from '../../output/output-sink.js';
import type { RetainedChunk } from '../../output/retained-log.js';
import type { ProcessExit } from '../../process/process-exit.js';

/** Sends a process's events over a connection as `process/*` notifications. */
export class JsonOutputSink implements OutputSink {
  readonly #encoder: OutputEncoder;

  constructor(
    private readonly peer: Peer,
    private readonly processId: string,
  ) {
    this.#encoder = new OutputEncoder('process/output', processId);
  }

  get writable(): boolean {
    return this.peer.writable;
  }

  whenWritable(): Promise<void> {
    return this.peer.whenWritable();
  }

  output({ seq, stream, data }: RetainedChunk): void {
    this.peer.sendBytes(this.#encoder.encode(seq, stream, data));
  }

  exited(seq: number, exit: ProcessExit): void {
    this.peer.notify('process/exited', { processId: this.processId, ...exitedParams(seq, exit) });
  }

  closed(seq: number): void {
    this.peer.notify('process/closed', { processId: this.processId, seq });
  }
}

/** What `process/exited` tells beside whose exit it is. */
export function exitedParams(seq: number, { exitCode, sandboxDenied, signal, timedOut }: ProcessExit) {
  return { seq, exitCode, sandboxDenied, signal, timedOut };
}
