import type { ExecServerError } from '../errors.js';
import type { ExitedEvent, OutputEvent, ProcessEvent } from '../process-event.js';
import { CharacterMixer } from './character-mixer.js';
import type { TruncationPolicy } from './collected-output.js';
import { HeadTailBuffer, type HeadTailLimits } from './head-tail-buffer.js';
import { type Outcome, outcomeOfExit } from './outcome.js';
import type { MissedEvents, ProcessResult, SpillFile } from './process-result.js';

/** How much of each stream is collected, and what becomes of more. */
export interface RecordLimits extends HeadTailLimits {
  /** @default 'error' */
  readonly truncate?: TruncationPolicy['truncate'];
}

const STILL_RUNNING: Outcome = { kind: 'unknown', reason: 'it is still running' };

/** What this client has seen of a process: its output within limits, and its end. */
export class ProcessRecord {
  /** Settles when the process has ended or nothing more can be learned of it. */
  readonly ended: Promise<void>;
  /** Settles when nothing more can follow. */
  readonly over: Promise<void>;
  readonly #truncate: TruncationPolicy['truncate'];
  readonly #stdout: HeadTailBuffer;
  readonly #stderr: HeadTailBuffer;
  readonly #all: HeadTailBuffer;
  /** For `all`, which mixes characters and not bytes. */
  readonly #mixer = new CharacterMixer();
  readonly #missed: MissedEvents[] = [];
  readonly #startedAtMs = performance.now();
  #endedAtMs: number | undefined;
  #exit: ExitedEvent | undefined;
  #unknownBecause: string | undefined;
  #error: ExecServerError | undefined;
  #closed = false;
  #isOver = false;
  #resolveEnded: () => void = () => {};
  #resolveOver: () => void = () => {};

  constructor({ truncate = 'error', ...limits }: RecordLimits) {
    this.#truncate = truncate;
    this.#stdout = new HeadTailBuffer(limits);
    this.#stderr = new HeadTailBuffer(limits);
    this.#all = new HeadTailBuffer(limits);
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
    this.over = new Promise((resolve) => {
      this.#resolveOver = resolve;
    });
  }

  /** How the process ended; absent while it runs. */
  get outcome(): Outcome | undefined {
    if (this.#exit !== undefined) return outcomeOfExit(this.#exit);
    return this.#unknownBecause === undefined ? undefined : { kind: 'unknown', reason: this.#unknownBecause };
  }

  /** What kept this client from learning more. */
  get error(): ExecServerError | undefined {
    return this.#error;
  }

  /** Nothing more can follow. */
  get isOver(): boolean {
    return this.#isOver;
  }

  take(event: ProcessEvent): void {
    switch (event.type) {
      case 'output':
        this.#takeOutput(event);
        break;
      case 'gap':
        this.#missed.push({ fromSeq: event.fromSeq, toSeq: event.toSeq });
        break;
      case 'exited':
        this.#exit = event;
        this.#end();
        break;
      case 'closed':
        this.#closed = true;
        // Without its exit, which a gap has swallowed, nobody knows how it ended.
        this.#finish('its end was missed');
        break;
      case 'failed':
        this.#error = event.error;
        this.#finish(event.message);
        break;
    }
  }

  /** Nobody follows the process any more. */
  abandon(reason: string): void {
    if (!this.#isOver) this.#finish(reason);
  }

  /** What is known now; of a process that has not ended the outcome is not. */
  summarize(spill?: SpillFile): ProcessResult {
    if (this.#isOver) for (const rest of this.#mixer.flush()) this.#all.append(rest);
    const outcome = this.outcome ?? STILL_RUNNING;
    const missed = [...this.#missed];
    const policy = { truncate: this.#truncate, missed };
    const stdout = this.#stdout.collect({ ...policy, name: 'stdout' });
    const stderr = this.#stderr.collect({ ...policy, name: 'stderr' });
    return {
      outcome,
      exitCode: outcome.kind === 'unknown' ? undefined : outcome.exitCode,
      signal: outcome.kind === 'signaled' ? outcome.signal : undefined,
      timedOut: this.#exit?.timedOut ?? false,
      stdout,
      stderr,
      all: this.#all.collect({ ...policy, name: 'the output' }),
      droppedBytes: stdout.droppedBytes + stderr.droppedBytes,
      missed,
      outputOpen: this.#exit !== undefined && !this.#closed,
      sandboxDenied: this.#exit?.sandboxDenied,
      durationMs: (this.#endedAtMs ?? performance.now()) - this.#startedAtMs,
      spill,
      spillPath: spill?.path,
    };
  }

  #takeOutput({ stream, data }: OutputEvent): void {
    (stream === 'stderr' ? this.#stderr : this.#stdout).append(data);
    this.#all.append(this.#mixer.take(stream, data));
  }

  #finish(reason: string): void {
    this.#unknownBecause = reason;
    this.#isOver = true;
    this.#end();
    this.#resolveOver();
  }

  #end(): void {
    this.#endedAtMs ??= performance.now();
    this.#resolveEnded();
  }
}
