import type { OutputSink } from '../output/output-sink.js';
import type { ConnectionResource } from './dialect.js';

/** Where the output of processes goes that are being started, for dialects whose requests decide that one by one. */
export class ProcessSinks implements ConnectionResource {
  readonly #ready = new Map<string, OutputSink>();

  /** Has `sink` ready for the process of that id while `start` runs. */
  async during<T>(processId: string, sink: OutputSink, start: () => Promise<T>): Promise<T> {
    this.#ready.set(processId, sink);
    try {
      return await start();
    } finally {
      this.#ready.delete(processId);
    }
  }

  take(processId: string): OutputSink {
    const sink = this.#ready.get(processId);
    if (sink === undefined) throw new Error('a process was started without a sink');
    return sink;
  }

  close(): void {
    this.#ready.clear();
  }
}
