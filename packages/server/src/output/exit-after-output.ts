import type { Clock, ClockTimer } from '../clock.js';
import type { ProcessExit } from '../process/process-exit.js';
import type { OutputSink } from './output-sink.js';
import type { RetainedChunk } from './retained-chunk.js';

/** How long the streams of a process that has exited may stay open, in milliseconds, before its end is told anyway. */
export const EXIT_DRAIN_MS = 2_000;

/** What the kernel may hold of a process's output at most: two pipes of the largest size that anybody may ask for. */
const MAX_UNREAD_BYTES = 2 * 1024 * 1024;

/** Who is told by {@link ExitAfterOutput}. */
export interface EndReader {
  output(chunk: RetainedChunk): void;
  /** Nothing follows. `drained` is false when somebody still holds a stream open. */
  ended(exit: ProcessExit, drained: boolean): void;
  /** False while the reader is behind. */
  readonly writable: boolean;
  /** Resolves when the reader has caught up or is gone. */
  whenWritable(): Promise<void>;
}

/**
 * Tells the end of a process behind its last output, for dialects that have one event for both. Somebody whom the
 * process left behind may hold its streams open for ever, so that the wait is bounded; time in which the reader is behind
 * does not count, or what the process wrote would be lost to slow readers.
 */
export class ExitAfterOutput implements OutputSink {
  #exit: ProcessExit | undefined;
  #timer: ClockTimer | undefined;
  #bytesAfterExit = 0;
  #wasBehind = false;
  #told = false;

  constructor(
    private readonly reader: EndReader,
    private readonly clock: Clock,
  ) {}

  get writable(): boolean {
    return this.#told || this.reader.writable;
  }

  whenWritable(): Promise<void> {
    return this.reader.whenWritable();
  }

  output(chunk: RetainedChunk): void {
    if (this.#told) return;
    this.reader.output(chunk);
    if (this.#exit !== undefined) this.#bytesAfterExit += chunk.length;
    if (!this.reader.writable) this.#wasBehind = true;
  }

  exited(_seq: number, exit: ProcessExit): void {
    this.#exit = exit;
    this.#waitForStreams(exit);
  }

  closed(): void {
    if (this.#exit !== undefined) this.#tell(this.#exit, true);
  }

  #waitForStreams(exit: ProcessExit): void {
    this.#wasBehind = !this.reader.writable;
    this.#timer = this.clock.after(EXIT_DRAIN_MS, () => {
      const mayHaveMore = this.#wasBehind && this.#bytesAfterExit <= MAX_UNREAD_BYTES;
      if (mayHaveMore) void this.reader.whenWritable().then(() => this.#told || this.#waitForStreams(exit));
      else this.#tell(exit, false);
    });
  }

  #tell(exit: ProcessExit, drained: boolean): void {
    if (this.#told) return;
    this.#told = true;
    this.#timer?.cancel();
    this.reader.ended(exit, drained);
  }
}
