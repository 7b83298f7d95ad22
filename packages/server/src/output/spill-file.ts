import type { FileHandle } from 'node:fs/promises';
import { callSystem } from '../fs/file-error.js';
import type { OutputSink } from './output-sink.js';
import type { RetainedChunk } from './retained-chunk.js';

/** Bytes that may wait for the disk before the child has to. */
const QUEUE_BYTES = 1024 * 1024;

/** What is in a spill file now. */
export interface SpillState {
  /** Native path. */
  readonly path: string;
  /** Bytes that the disk took. */
  readonly bytes: number;
  /** Whether output is missing at its end: the limit was reached, or the disk refused to go on. */
  readonly truncated: boolean;
  /** Whether nothing more will be written. */
  readonly complete: boolean;
  /** Why the disk refused. */
  readonly error?: string;
}

/**
 * Writes the output of one process to a file, all streams in the order in which they were read. The child waits for the
 * disk as it waits for its owner; a disk that fails ends the file, never the process.
 */
export class SpillFile implements OutputSink {
  /** Resolves when the file is closed. Never rejects. */
  readonly finished: Promise<void>;
  #finish!: () => void;
  #queue: Buffer[] = [];
  #queuedBytes = 0;
  #acceptedBytes = 0;
  #writtenBytes = 0;
  #truncated = false;
  #error: string | undefined;
  #ended = false;
  #closing = false;
  #complete = false;
  #writing = false;
  #waiters: (() => void)[] = [];

  /** @param file open for writing and empty; it is closed here */
  constructor(
    private readonly file: FileHandle,
    private readonly options: { readonly path: string; readonly limitBytes: number },
  ) {
    this.finished = new Promise((resolve) => {
      this.#finish = resolve;
    });
  }

  get state(): SpillState {
    return {
      path: this.options.path,
      bytes: this.#writtenBytes,
      truncated: this.#truncated,
      complete: this.#complete,
      ...(this.#error !== undefined && { error: this.#error }),
    };
  }

  get writable(): boolean {
    return this.#queuedBytes < QUEUE_BYTES;
  }

  whenWritable(): Promise<void> {
    return this.writable ? Promise.resolve() : new Promise((resolve) => this.#waiters.push(resolve));
  }

  output({ data }: RetainedChunk): void {
    if (this.#ended || this.#truncated) return;
    const taken = data.subarray(0, this.options.limitBytes - this.#acceptedBytes);
    this.#acceptedBytes += taken.length;
    this.#truncated = taken.length < data.length;
    if (taken.length > 0) {
      this.#queue.push(taken);
      this.#queuedBytes += taken.length;
    }
    this.#pump();
  }

  exited(): void {}

  /** Nothing more comes: what is queued is written, then the file is closed. */
  closed(): void {
    this.#ended = true;
    this.#pump();
  }

  #pump(): void {
    if (this.#writing || this.#closing) return;
    this.#writing = true;
    void this.#drain();
  }

  async #drain(): Promise<void> {
    try {
      while (this.#queue.length > 0) await this.#writeQueue();
    } catch (error) {
      this.#giveUp(error);
    }
    this.#writing = false;
    // A file that takes no more gives up its descriptor, however long the process goes on.
    if (this.#ended || this.#truncated) await this.#close();
  }

  async #writeQueue(): Promise<void> {
    const batch = Buffer.concat(this.#queue);
    this.#queue = [];
    for (let offset = 0; offset < batch.length; ) {
      const { bytesWritten } = await callSystem(this.file.write(batch, offset));
      offset += bytesWritten;
      this.#writtenBytes += bytesWritten;
    }
    this.#queuedBytes -= batch.length;
    this.#wakeIfWritable();
  }

  #giveUp(error: unknown): void {
    this.#truncated = true;
    this.#error = (error as Error).message;
    this.#queue = [];
    this.#queuedBytes = 0;
    this.#wakeIfWritable();
  }

  async #close(): Promise<void> {
    this.#closing = true;
    try {
      await callSystem(this.file.close());
    } catch (error) {
      // Some file systems tell only now that they did not keep what was written.
      this.#truncated = true;
      this.#error ??= (error as Error).message;
    }
    this.#complete = true;
    this.#finish();
  }

  #wakeIfWritable(): void {
    if (!this.writable) return;
    for (const wake of this.#waiters.splice(0)) wake();
  }
}
