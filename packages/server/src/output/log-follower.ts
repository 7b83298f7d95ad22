import type { ManagedProcess, ProcessEvent } from '../process/managed-process.js';

/** Who is told by a {@link LogFollower}. */
export interface FollowerSink {
  event(event: ProcessEvent): void;
  /** Events `fromSeq` to `toSeq` were evicted before they could be told. */
  lagged(fromSeq: number, toSeq: number): void;
  /** False while nothing more may be queued. */
  readonly writable: boolean;
  /** Resolves when the queue has drained or is gone. */
  whenWritable(): Promise<void>;
}

/**
 * Tells one viewer the events of a process from a cursor on, at the viewer's own speed. The log is its queue: a viewer
 * that falls behind slows nobody, goes on where it stopped, and is told exactly what was evicted meanwhile.
 */
export class LogFollower {
  #unwatch: () => void = () => {};
  #waiting = false;
  #stopped = false;

  /** @param onEnd called once the process has closed and everything was told */
  constructor(
    private readonly process: ManagedProcess,
    private cursor: number,
    private readonly sink: FollowerSink,
    private readonly onEnd: () => void,
  ) {}

  /** Tells what is there and everything that comes. */
  start(): void {
    this.#unwatch = this.process.watch(() => this.#pump());
    this.#pump();
  }

  stop(): void {
    this.#stopped = true;
    this.#unwatch();
  }

  #pump(): void {
    while (!this.#stopped) {
      const event = this.process.nextEvent(this.cursor);
      if (event === undefined) {
        if (this.process.closed) this.#finish();
        return;
      }
      if (!this.sink.writable) {
        this.#pumpWhenWritable();
        return;
      }
      if (event.seq > this.cursor + 1) this.sink.lagged(this.cursor + 1, event.seq - 1);
      this.sink.event(event);
      this.cursor = event.seq;
      if (event.kind === 'closed') this.#finish();
    }
  }

  #finish(): void {
    this.stop();
    this.onEnd();
  }

  /** Every event of the process is an occasion too: a queue that has room again need not drain first. */
  #pumpWhenWritable(): void {
    if (this.#waiting) return;
    this.#waiting = true;
    void this.sink.whenWritable().then(() => {
      this.#waiting = false;
      this.#pump();
    });
  }
}
