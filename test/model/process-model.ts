import { expect } from 'vitest';
import type { ProgramName } from './schedule.js';

/** How long a closed process stays readable and its id taken, in milliseconds of the fake clock. */
export const RETENTION_MS = 30_000;

const SIGNAL_BASE = 128;
/** Exit codes of programs that a signal ended. */
export const INTERRUPTED = SIGNAL_BASE + 2;
export const KILLED = SIGNAL_BASE + 9;

export const PROGRAMS: Readonly<Record<ProgramName, readonly string[]>> = {
  cat: ['/bin/cat'],
  print: ['/bin/sh', '-c', 'printf out; printf err >&2; exit 3'],
  sleep: ['/bin/sleep', '1000'],
  missing: ['/nonexistent/program'],
};
const PRINT_EXIT_CODE = 3;

/** One event with a number. */
type StoryEvent =
  | { readonly kind: 'output'; readonly stream: string; readonly chunk: string }
  | { readonly kind: 'exited'; readonly exitCode: number }
  | { readonly kind: 'closed' };

/** The answer to `process/read` as far as the model looks at it. */
export interface ReadAnswer {
  readonly chunks: readonly { readonly seq: number; readonly stream: string; readonly chunk: string }[];
  readonly nextSeq: number;
  readonly exited: boolean;
  readonly exitCode: number | null;
  readonly closed: boolean;
}

/**
 * What one process may do, given what was done to it. A real process does things in its own time, so this is what is
 * possible: the codes it may have ended with, and when it may have ended at the earliest and must have at the latest.
 */
export class ProcessModel {
  /** Bytes that were accepted for its input, in their order. */
  written = '';
  stdinOpen: boolean;
  /** Codes with which it may have ended by now; none while it must be running. */
  readonly possibleExits = new Set<number>();
  /** Whether a signal may have cut short what it had to print. */
  #cutShort = false;
  #mayHaveEndedAt: number | undefined;
  #closedBy: number | undefined;
  /** Every event that was ever told, by number: whoever tells it again must tell the same. */
  readonly #story = new Map<number, StoryEvent>();
  /** The last number that was pushed on the present connection. */
  #pushedSeq: number | undefined = 0;

  constructor(
    readonly id: string,
    readonly pid: number,
    readonly program: ProgramName,
    readonly cap: number,
    now: number,
  ) {
    this.stdinOpen = program === 'cat';
    if (program === 'print') this.mayEnd(PRINT_EXIT_CODE, now);
  }

  get takesInput(): boolean {
    return this.program === 'cat';
  }

  /** Whether somebody was told that it has ended. */
  get isKnownToHaveEnded(): boolean {
    return [...this.#story.values()].some(({ kind }) => kind === 'exited');
  }

  get isKnownToBeClosed(): boolean {
    return this.#closedBy !== undefined;
  }

  mayBeForgotten(now: number): boolean {
    return this.#mayHaveEndedAt !== undefined && now - this.#mayHaveEndedAt >= RETENTION_MS;
  }

  mustBeForgotten(now: number): boolean {
    return this.#closedBy !== undefined && now - this.#closedBy >= RETENTION_MS;
  }

  mayEnd(exitCode: number, now: number): void {
    if (this.isKnownToHaveEnded) return;
    this.possibleExits.add(exitCode);
    this.#mayHaveEndedAt ??= now;
    if (exitCode > SIGNAL_BASE) this.#cutShort = true;
  }

  /** Nothing is pushed any more; what comes on the next connection may begin anywhere. */
  loseConnection(): void {
    this.#pushedSeq = undefined;
  }

  takePush(seq: number, event: StoryEvent, now: number): void {
    if (this.#pushedSeq !== undefined)
      expect(seq, `${this.id}: pushed numbers have no gap`).toBe(this.#pushedSeq + 1);
    this.#pushedSeq = seq;
    this.#note(seq, event, now);
  }

  /** @param asked what was read, to be checked against what is known; absent where it was answered in between */
  takeRead(
    answer: ReadAnswer,
    now: number,
    asked?: { readonly afterSeq: number; readonly maxBytes?: number },
  ): void {
    for (const { seq, stream, chunk } of answer.chunks)
      this.#note(seq, { kind: 'output', stream, chunk }, now);
    if (asked !== undefined) this.#checkExtent(answer, asked);
    if (answer.exited) this.#checkExit(answer.exitCode);
    else expect(answer).toMatchObject({ exitCode: null, closed: false });
    if (!answer.closed) return;
    expect(answer.exited).toBe(true);
    this.#closedBy ??= now;
  }

  #checkExtent(
    { chunks, nextSeq }: ReadAnswer,
    asked: { readonly afterSeq: number; readonly maxBytes?: number },
  ): void {
    const { afterSeq, maxBytes = Number.POSITIVE_INFINITY } = asked;
    const sizes = chunks.map(({ chunk }) => Buffer.byteLength(chunk, 'base64'));
    const total = sizes.reduce((sum, size) => sum + size, 0);
    const seqs = chunks.map(({ seq }) => seq);
    expect(seqs).toEqual([...new Set(seqs)].sort((a, b) => a - b));
    expect(seqs.every((seq) => seq > afterSeq)).toBe(true);
    expect(total).toBeLessThanOrEqual(this.cap);
    if (chunks.length > 1) expect(total).toBeLessThanOrEqual(maxBytes);
    const isBounded = asked.maxBytes !== undefined && chunks.length > 0;
    const upTo = isBounded ? (seqs.at(-1) as number) : Number.POSITIVE_INFINITY;
    if (isBounded) expect(nextSeq).toBe(upTo + 1);
    else expect(nextSeq).toBeGreaterThan(Math.max(0, ...this.#story.keys()));
    // What is missing must have been dropped for want of room.
    if (this.#outputBytes() > this.cap) return;
    const known = this.#outputs().filter(([seq]) => seq > afterSeq && seq <= upTo);
    expect(seqs, `${this.id}: everything retained is read`).toEqual(known.map(([seq]) => seq));
  }

  #checkExit(exitCode: number | null): void {
    expect([...this.possibleExits], `${this.id}: ended with a code that it may end with`).toContain(exitCode);
  }

  #note(seq: number, event: StoryEvent, now: number): void {
    const told = this.#story.get(seq);
    if (told !== undefined) expect(event, `${this.id}: event ${seq} is told the same again`).toEqual(told);
    this.#story.set(seq, event);
    if (event.kind === 'exited') this.#checkExit(event.exitCode);
    if (event.kind === 'closed') this.#closedBy ??= now;
    this.#checkOutput();
  }

  /** What is known of the output from its beginning on is what had to be printed, or the beginning of it. */
  #checkOutput(): void {
    if (this.program === 'cat') expect(this.written.startsWith(this.#textFromStart('stdout'))).toBe(true);
    if (this.program === 'print') {
      expect('out'.startsWith(this.#textFromStart('stdout'))).toBe(true);
      expect('err'.startsWith(this.#textFromStart('stderr'))).toBe(true);
    }
    if (this.program === 'sleep') expect(this.#outputs()).toEqual([]);
  }

  /** @param end the answer to a read of everything after it has closed */
  checkWhole(end: ReadAnswer): void {
    expect(end.closed).toBe(true);
    const last = end.nextSeq - 1;
    const events = [...this.#story.keys()];
    expect(Math.max(0, ...events)).toBeLessThanOrEqual(last);
    if (this.#outputBytes() > this.cap || this.#expectedBytes() > this.cap) return;
    expect(end.chunks, `${this.id}: every number but those of exit and close is output`).toHaveLength(
      last - 2,
    );
    if (this.#cutShort) return;
    if (this.program === 'cat') expect(this.#textOf('stdout')).toBe(this.written);
    if (this.program === 'print')
      expect([this.#textOf('stdout'), this.#textOf('stderr')]).toEqual(['out', 'err']);
  }

  #expectedBytes(): number {
    return this.program === 'print' ? 'outerr'.length : Buffer.byteLength(this.written);
  }

  #outputBytes(): number {
    return this.#outputs().reduce((sum, [, { chunk }]) => sum + Buffer.byteLength(chunk, 'base64'), 0);
  }

  #outputs(): [number, Extract<StoryEvent, { kind: 'output' }>][] {
    return [...this.#story]
      .flatMap(([seq, event]): [number, Extract<StoryEvent, { kind: 'output' }>][] =>
        event.kind === 'output' ? [[seq, event]] : [],
      )
      .sort(([a], [b]) => a - b);
  }

  #textOf(stream: string, upTo = Number.POSITIVE_INFINITY): string {
    const pieces = this.#outputs().filter(([seq, event]) => seq < upTo && event.stream === stream);
    return Buffer.concat(pieces.map(([, { chunk }]) => Buffer.from(chunk, 'base64'))).toString();
  }

  #textFromStart(stream: string): string {
    let firstUnknown = 1;
    while (this.#story.has(firstUnknown)) firstUnknown++;
    return this.#textOf(stream, firstUnknown);
  }
}
