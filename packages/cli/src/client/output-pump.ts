import { LaggedError, type ProcessEvent, type ProcessHandle } from '@exec-server/client';
import type { CommandIo } from '../command-io.js';
import { StreamWriter } from './stream-writer.js';

/** How the events of a process become output. */
export interface PumpOptions {
  /** Events up to this cursor are left out. @default 0, all that is retained are written */
  readonly from?: number;
  /** What is written to stdout for an event. @default output as it came, each stream to its own */
  readonly format?: (event: ProcessEvent) => string;
}

/** Writes what a process writes, no faster than it is read here. */
export class OutputPump {
  /** Resolves when everything is written that will be, or when nobody reads any more. */
  readonly finished: Promise<void>;
  readonly #handle: Pick<ProcessHandle, 'events'>;
  readonly #stdout: StreamWriter;
  readonly #stderr: StreamWriter;
  readonly #format: PumpOptions['format'];
  readonly #stop = new AbortController();
  #cursor: number;
  #lastSeq = Number.POSITIVE_INFINITY;

  constructor(
    handle: Pick<ProcessHandle, 'events'>,
    io: Pick<CommandIo, 'stdout' | 'stderr'>,
    { from = 0, format }: PumpOptions = {},
  ) {
    this.#handle = handle;
    this.#stdout = new StreamWriter(io.stdout);
    this.#stderr = new StreamWriter(io.stderr);
    this.#format = format;
    this.#cursor = from;
    this.finished = this.#run();
  }

  /** Nobody reads what is written to stdout. */
  get isUnread(): boolean {
    return this.#stdout.isBroken;
  }

  /** Ends it behind the event of this number, and resolves when all up to there is written. */
  endAfter(seq: number): Promise<void> {
    this.#lastSeq = seq;
    if (this.#cursor >= seq) this.#stop.abort();
    return this.finished;
  }

  async #run(): Promise<void> {
    while (!(await this.#writeEvents()));
    await this.#stdout.flush();
    await this.#stderr.flush();
  }

  /** False when it has to go on behind events that are gone. */
  async #writeEvents(): Promise<boolean> {
    const { signal } = this.#stop;
    // Without a cursor the oldest output that is retained comes first, whichever that is.
    const start = this.#cursor === 0 ? {} : { from: this.#cursor };
    try {
      for await (const event of this.#handle.events({ ...start, signal })) {
        await this.#write(event);
        if (this.isUnread) return true;
        if ('seq' in event) this.#cursor = event.seq;
        if (this.#cursor >= this.#lastSeq) return true;
      }
      return true;
    } catch (error) {
      if (!(error instanceof LaggedError)) throw error;
      await this.#tellGap(error);
      this.#cursor = error.toSeq;
      return false;
    }
  }

  async #write(event: ProcessEvent): Promise<void> {
    if (event.type === 'gap') await this.#tellGap(event);
    if (this.#format !== undefined) await this.#stdout.write(this.#format(event));
    // Without anybody who reads its errors the rest is still worth something.
    else if (event.type === 'output')
      await (event.stream === 'stderr' ? this.#stderr : this.#stdout).write(event.data);
  }

  async #tellGap({ fromSeq, toSeq }: { readonly fromSeq: number; readonly toSeq: number }): Promise<void> {
    await this.#stderr.write(
      `exec-server: output is missing here; the server no longer has events ${fromSeq} to ${toSeq}\n`,
    );
  }
}
