import { checkOptions } from '../check-options.js';
import { requireWholeNumber } from '../usage.js';
import { linkAbort } from './link-abort.js';
import { isPartOf, type OutputName } from './output-view.js';
import { readUntilEnd } from './read-until-end.js';
import { type WaitOptions, waitWithin } from './wait.js';
import { endedFirst, type WaitForContext } from './wait-for.js';

/** Text that is kept for a pattern that may begin in it, in characters. What is older is let go. */
export const MAX_EXPECTED_CHARACTERS = 1024 * 1024;

/** What to expect, and where. */
export interface ExpectOptions extends WaitOptions {
  /** Begin behind this cursor. @default where the last `expect` ended, or else the oldest output that is retained */
  readonly from?: number;
  /** Where to look. @default 'all' */
  readonly stream?: OutputName;
}

/** What was expected and came. */
export interface Expected {
  /** The text that matched, and its groups where the pattern is an expression. */
  readonly match: RegExpMatchArray;
  /** What came before it since the last one, at most the newest mebibyte. */
  readonly before: string;
}

const OPTION_NAMES: readonly (keyof ExpectOptions)[] = ['from', 'stream', 'timeoutMs', 'signal'];

/** Waits for one text after the other in what a process writes, each from where the last one ended. */
export class Expectation {
  readonly #context: WaitForContext;
  /** What came behind the last match. */
  #rest = '';
  /** Number of the last event that is in it. */
  #cursor: number | undefined;
  #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  #stream: OutputName = 'all';
  #turn: Promise<unknown> = Promise.resolve();

  constructor(context: WaitForContext) {
    this.#context = context;
  }

  /** One after the other, so that each begins where the one before it ended. */
  expect(pattern: string | RegExp, options: ExpectOptions = {}): Promise<Expected> {
    checkOptions('expect', options, OPTION_NAMES);
    requireWholeNumber('from', options.from);
    const turn = this.#turn.then(() => this.#expect(pattern, options));
    this.#turn = turn.catch(() => {});
    return turn;
  }

  async #expect(pattern: string | RegExp, options: ExpectOptions): Promise<Expected> {
    const { from, stream = this.#stream, signal } = options;
    if (from !== undefined) this.#startAt(from);
    this.#stream = stream;
    const { controller, unlink } = linkAbort(signal);
    try {
      const waiting = this.#search(pattern, controller.signal);
      return await waitWithin(waiting, options, this.#context.record, `${pattern} did not show`);
    } finally {
      unlink();
      controller.abort();
    }
  }

  #startAt(cursor: number): void {
    this.#cursor = cursor;
    this.#rest = '';
    this.#decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  }

  async #search(pattern: string | RegExp, signal: AbortSignal): Promise<Expected> {
    const found = this.#take(pattern);
    if (found !== undefined) return found;
    for await (const { seq, stream, data } of readUntilEnd(this.#context, signal, this.#cursor)) {
      this.#cursor = seq;
      if (!isPartOf(stream, this.#stream)) continue;
      this.#rest += this.#decoder.decode(data, { stream: true });
      const match = this.#take(pattern);
      if (match !== undefined) return match;
      if (this.#rest.length > MAX_EXPECTED_CHARACTERS)
        this.#rest = this.#rest.slice(-MAX_EXPECTED_CHARACTERS);
    }
    signal.throwIfAborted();
    throw endedFirst(this.#context, `${pattern} showed`);
  }

  #take(pattern: string | RegExp): Expected | undefined {
    const match = findMatch(this.#rest, pattern);
    if (match?.index === undefined) return undefined;
    const before = this.#rest.slice(0, match.index);
    this.#rest = this.#rest.slice(match.index + match[0].length);
    return { match, before };
  }
}

/** The first one, wherever a global or sticky expression left off. */
function findMatch(text: string, pattern: string | RegExp): RegExpMatchArray | undefined {
  if (typeof pattern === 'string') {
    const index = text.indexOf(pattern);
    return index < 0 ? undefined : Object.assign([pattern] as RegExpMatchArray, { index, input: text });
  }
  const flags = pattern.flags.replace(/[gy]/g, '');
  return text.match(new RegExp(pattern.source, flags)) ?? undefined;
}
