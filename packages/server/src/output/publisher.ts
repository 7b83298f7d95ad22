import type { OutputSource } from '../native/launch.js';
import type { ProcessExit } from '../process/process-exit.js';
import type { OutputSink } from './output-sink.js';
import type { RetainedChunk } from './retained-chunk.js';

/** A reader that is attached, and whether the process waits for it. */
interface Reader {
  readonly sink: OutputSink;
  readonly holdsBack: boolean;
}

/**
 * Hands the events of one process to its readers. A reader that holds back stops the sources while it is behind, so that
 * the child waits and nothing piles up; the others never slow anybody. With no reader the sources run freely.
 */
export class Publisher {
  readonly #readers = new Set<Reader>();
  /** The reader that the sources are stopped for. */
  #heldFor: Reader | undefined;

  constructor(private readonly sources: readonly OutputSource[]) {}

  /** Adds a reader of everything from here on; the returned function takes it away. */
  attach(sink: OutputSink, options: { readonly holdsBack: boolean }): () => void {
    const reader = { sink, holdsBack: options.holdsBack };
    this.#readers.add(reader);
    this.#holdIfBehind();
    return () => {
      this.#readers.delete(reader);
      if (this.#heldFor === reader) this.#release();
    };
  }

  output(chunk: RetainedChunk): void {
    for (const { sink } of this.#readers) sink.output(chunk);
    this.#holdIfBehind();
  }

  exited(seq: number, exit: ProcessExit): void {
    for (const { sink } of this.#readers) sink.exited(seq, exit);
  }

  closed(seq: number): void {
    for (const { sink } of this.#readers) sink.closed(seq);
  }

  #holdIfBehind(): void {
    if (this.#heldFor !== undefined) return;
    for (const reader of this.#readers) {
      if (!reader.holdsBack || reader.sink.writable) continue;
      this.#hold(reader);
      return;
    }
  }

  #hold(reader: Reader): void {
    this.#heldFor = reader;
    for (const source of this.sources) source.pause();
    void reader.sink.whenWritable().then(() => {
      // A reader that was taken away meanwhile has no say any more.
      if (this.#heldFor === reader) this.#release();
    });
  }

  #release(): void {
    this.#heldFor = undefined;
    for (const source of this.sources) source.resume();
    this.#holdIfBehind();
  }
}
