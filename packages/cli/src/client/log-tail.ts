import type { OutputEvent, ProcessEvent, ProcessHandle } from '@exec-server/client';

const NEWLINE = 0x0a;

/** The events of a process without output before the last lines of what there was when it was looked at. */
export class LogTail implements Pick<ProcessHandle, 'events'> {
  readonly #handle: Pick<ProcessHandle, 'events'>;
  readonly #cursor: number;
  readonly #lines: number;
  #held: ProcessEvent[] = [];
  /** Ends of lines in the output that is held. */
  #newlines = 0;
  #isHolding = true;

  /**
   * @param cursor number of the last event that was there
   * @param lines how many of the lines until then are kept, at least 1, whichever stream they are of
   */
  constructor(handle: Pick<ProcessHandle, 'events'>, cursor: number, lines: number) {
    this.#handle = handle;
    this.#cursor = cursor;
    this.#lines = lines;
  }

  async *events(options?: Parameters<ProcessHandle['events']>[0]): AsyncIterableIterator<ProcessEvent> {
    for await (const event of this.#handle.events(options)) {
      if (!this.#isHolding) {
        yield event;
        continue;
      }
      this.#hold(event);
      if (lastSeqOf(event) >= this.#cursor) yield* this.#release();
    }
    yield* this.#release();
  }

  #hold(event: ProcessEvent): void {
    this.#held.push(event);
    if (event.type !== 'output') return;
    this.#newlines += countNewlines(event.data);
    // The line in front of the kept ones ends in an event that is held, where it can be cut.
    for (let first = this.#held[0]; first !== undefined; first = this.#held[0]) {
      const newlines = first.type === 'output' ? countNewlines(first.data) : 0;
      if (first === event || this.#newlines - newlines <= this.#lines) return;
      this.#newlines -= newlines;
      this.#held.shift();
    }
  }

  *#release(): Generator<ProcessEvent> {
    this.#isHolding = false;
    const held = this.#held;
    this.#held = [];
    const last = held.findLast((event): event is OutputEvent => event.type === 'output');
    const endsWithLine = last?.data.at(-1) === NEWLINE;
    let surplus = this.#newlines - this.#lines + (endsWithLine ? 0 : 1);
    for (const event of held) {
      if (surplus <= 0 || (event.type !== 'output' && event.type !== 'gap')) yield event;
      else if (event.type === 'output') {
        const start = endOfLines(event.data, surplus);
        surplus -= countNewlines(event.data.subarray(0, start));
        if (surplus <= 0) yield { ...event, data: event.data.subarray(start) };
      }
    }
  }
}

function lastSeqOf(event: ProcessEvent): number {
  if (event.type === 'gap') return event.toSeq;
  return event.type === 'failed' ? Number.POSITIVE_INFINITY : event.seq;
}

function countNewlines(data: Uint8Array): number {
  let count = 0;
  for (let at = data.indexOf(NEWLINE); at >= 0; at = data.indexOf(NEWLINE, at + 1)) count++;
  return count;
}

/** Where the first so many lines end, or the data does. */
function endOfLines(data: Uint8Array, lines: number): number {
  let end = 0;
  for (let line = 0; line < lines; line++) {
    const at = data.indexOf(NEWLINE, end);
    if (at < 0) return data.length;
    end = at + 1;
  }
  return end;
}
