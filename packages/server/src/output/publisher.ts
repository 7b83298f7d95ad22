import type { OutputSource } from '../native/launch.js';
import type { ProcessExit } from '../process/process-exit.js';
import type { OutputSink } from './output-sink.js';
import type { RetainedChunk } from './retained-log.js';

/**
 * Hands the events of one process to its readers. The owner's reader holds the process back: while it is behind, the
 * sources are paused and the child waits. With no owner nothing is held back.
 */
export class Publisher {
  #owner: OutputSink | undefined;
  #held = false;

  constructor(private readonly sources: readonly OutputSource[]) {}

  /** Replaces the owner's reader; `undefined` while nobody is attached. */
  setOwner(sink: OutputSink | undefined): void {
    this.#owner = sink;
    this.#release();
    this.#holdIfBehind();
  }

  output(chunk: RetainedChunk): void {
    if (this.#owner === undefined) return;
    this.#owner.output(chunk);
    this.#holdIfBehind();
  }

  exited(seq: number, exit: ProcessExit): void {
    this.#owner?.exited(seq, exit);
  }

  closed(seq: number): void {
    this.#owner?.closed(seq);
  }

  #holdIfBehind(): void {
    const owner = this.#owner;
    if (owner === undefined || owner.writable || this.#held) return;
    this.#held = true;
    for (const source of this.sources) source.pause();
    void owner.whenWritable().then(() => {
      // A reader that was replaced meanwhile has no say any more.
      if (this.#owner !== owner) return;
      this.#release();
      this.#holdIfBehind();
    });
  }

  #release(): void {
    if (!this.#held) return;
    this.#held = false;
    for (const source of this.sources) source.resume();
  }
}
