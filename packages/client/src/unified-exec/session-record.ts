import type { Clock } from '../clock.js';
import { CharacterMixer } from '../process/character-mixer.js';
import type { CollectedOutput } from '../process/collected-output.js';
import { type Outcome, outcomeOfExit } from '../process/outcome.js';
import type { ProcessEvent } from '../process-event.js';
import { DeltaCutter } from './delta-cutter.js';
import type { UnifiedExecEvent } from './events.js';
import { END_EVENT_DELAY_MS, TRAILING_OUTPUT_MS } from './limits.js';
import { createRetainedOutput, retainedText } from './retained-output.js';

/** What a record is made from. */
export interface SessionRecordOptions {
  readonly sessionId: number;
  readonly callId: string;
  readonly clock: Clock;
  readonly publish: (event: UnifiedExecEvent) => void;
}

/** What was learned of one command: the output that no call has returned yet, and its end. */
export class SessionRecord {
  /** Settles when the process has ended, or nothing more can be learned of it. */
  readonly exited: Promise<void>;
  /** Settles when there is no use in waiting for more output. */
  readonly drained: Promise<void>;
  /** Settles with the `end` event. Nothing follows. */
  readonly ended: Promise<void>;
  readonly #subject: { readonly callId: string; readonly sessionId: number };
  readonly #clock: Clock;
  readonly #publish: (event: UnifiedExecEvent) => void;
  readonly #startedAtMs: number;
  readonly #mixer = new CharacterMixer();
  readonly #deltas = new DeltaCutter();
  readonly #transcript = createRetainedOutput();
  readonly #timers: ReturnType<Clock['after']>[] = [];
  /** What comes before the command is known to have begun. */
  #early: ProcessEvent[] | undefined = [];
  #pending = createRetainedOutput();
  #exitedAtMs: number | undefined;
  #outcome: Outcome | undefined;
  #isOver = false;
  #resolveExited: () => void = () => {};
  #resolveDrained: () => void = () => {};
  #resolveEnded: () => void = () => {};

  constructor({ sessionId, callId, clock, publish }: SessionRecordOptions) {
    this.#subject = { callId, sessionId };
    this.#clock = clock;
    this.#publish = publish;
    this.#startedAtMs = clock.now();
    this.exited = new Promise((resolve) => {
      this.#resolveExited = resolve;
    });
    this.drained = new Promise((resolve) => {
      this.#resolveDrained = resolve;
    });
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
  }

  /** How the process ended; absent while it runs. */
  get outcome(): Outcome | undefined {
    return this.#outcome;
  }

  /** Takes what has come so far, and from now on at once: nothing is told of a command before its beginning is. */
  begin(): void {
    const early = this.#early;
    this.#early = undefined;
    for (const event of early ?? []) this.take(event);
  }

  take(event: ProcessEvent): void {
    if (this.#isOver) return;
    if (this.#early !== undefined) {
      this.#early.push(event);
      return;
    }
    switch (event.type) {
      case 'output':
        this.#append(this.#mixer.take(event.stream, event.data));
        break;
      case 'gap':
        this.#append(new TextEncoder().encode(gapLine(event.fromSeq, event.toSeq)));
        break;
      case 'exited':
        this.#exit(outcomeOfExit(event));
        this.#timers.push(
          this.#clock.after(TRAILING_OUTPUT_MS, this.#resolveDrained),
          this.#clock.after(END_EVENT_DELAY_MS, () => this.#end()),
        );
        break;
      case 'closed':
        this.#exit({ kind: 'unknown', reason: 'its end was missed' });
        this.#end();
        break;
      case 'failed':
        this.#exit({ kind: 'unknown', reason: event.message });
        this.#end();
        break;
    }
  }

  /** What was written since the last time. */
  drain(): CollectedOutput {
    const collected = this.#pending.collect();
    this.#pending = createRetainedOutput();
    return collected;
  }

  #append(bytes: Uint8Array): void {
    this.#pending.append(bytes);
    this.#transcript.append(bytes);
    for (const delta of this.#deltas.cut(bytes)) this.#publish({ type: 'output', ...this.#subject, delta });
  }

  /** The first word on how it ended stands. */
  #exit(outcome: Outcome): void {
    this.#outcome ??= outcome;
    this.#exitedAtMs ??= this.#clock.now();
    this.#resolveExited();
  }

  #end(): void {
    this.#isOver = true;
    for (const timer of this.#timers) timer.cancel();
    for (const rest of this.#mixer.flush()) this.#append(rest);
    const outcome = this.#outcome as Outcome;
    const exitCode = outcome.kind === 'unknown' ? -1 : outcome.exitCode;
    this.#publish({
      type: 'end',
      ...this.#subject,
      status: exitCode === 0 ? 'completed' : 'failed',
      outcome,
      exitCode,
      aggregatedOutput: retainedText(this.#transcript.collect()),
      durationMs: (this.#exitedAtMs as number) - this.#startedAtMs,
    });
    this.#resolveDrained();
    this.#resolveEnded();
  }
}

function gapLine(fromSeq: number, toSeq: number): string {
  return `\n... output events ${fromSeq} to ${toSeq} were lost ...\n`;
}
