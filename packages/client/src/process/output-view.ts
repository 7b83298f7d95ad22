import { checkOptions } from '../check-options.js';
import { LaggedError } from '../errors.js';
import type { OutputEvent, StreamName } from '../process-event.js';
import type { EventsOptions, ProcessSession, SlowReader } from '../process-session.js';
import { requireOneOf } from '../usage.js';
import { LineSplitter } from './line-splitter.js';
import { toReadableStream } from './readable-stream.js';
import type { SpilledOutput } from './spilled-output.js';

/** Which output: of one stream, or of both in the order in which it came. A terminal has all its output in `stdout`. */
export type OutputName = 'stdout' | 'stderr' | 'all';

/** Where to start and when to stop reading. */
export interface ReadOptions {
  /** Only events behind this cursor. @default 0, from the oldest that is retained */
  readonly from?: number;
  /** Ends the reading, without an error. */
  readonly signal?: AbortSignal;
  /**
   * `wait`: a process that writes faster than it is read waits, and only that process. `lag`: it goes on; what nobody
   * has any more by the time it would be read is a `LaggedError`.
   *
   * @default 'wait', unless `connect` was told otherwise; 'lag' for those who only view
   */
  readonly slowReader?: SlowReader;
}

/**
 * The output of a process from one angle. Everything here begins with the oldest output that is retained and goes on as
 * more comes; each reading has a place of its own. The process waits for a reading that is slow, once it has begun and
 * until it ends: by `break`, `return()`, `cancel()` or its signal. One whose rest cannot be had throws what became of the
 * connection.
 *
 * Where the server writes all output to a file (`output.spill`), what its log no longer has is read from there: by `all`,
 * and by `stdout` of a terminal. The file does not tell stdout and stderr apart.
 */
export class OutputView implements AsyncIterable<Uint8Array> {
  readonly #session: Pick<ProcessSession, 'events'>;
  readonly #name: OutputName;

  readonly #spilled: SpilledOutput | undefined;

  /** @param spilled where all of it is that the log no longer has */
  constructor(session: Pick<ProcessSession, 'events'>, name: OutputName, spilled?: SpilledOutput) {
    this.#session = session;
    this.#name = name;
    this.#spilled = spilled;
  }

  /** The bytes as they come, until the output is complete. */
  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return this.bytes();
  }

  /** The bytes as they come, until the output is complete. */
  async *bytes(options?: ReadOptions): AsyncIterableIterator<Uint8Array> {
    for await (const { data } of this.#outputs(options)) yield data;
  }

  /** The bytes as a stream that reads no faster than it is read. Cancelling it leaves the process alone. */
  stream(options: ReadOptions = {}): ReadableStream<Uint8Array> {
    return toReadableStream((signal) => this.bytes({ ...options, signal }), options.signal);
  }

  /** The lines as they come, without their ends; a last one without an end counts. */
  async *lines(options?: ReadOptions): AsyncIterableIterator<string> {
    // Each stream has its own characters and lines, whatever comes between their parts.
    const splitters = new Map<StreamName, LineSplitter>();
    for await (const { stream, data } of this.#outputs(options)) {
      const splitter = splitters.get(stream) ?? new LineSplitter();
      splitters.set(stream, splitter);
      yield* splitter.push(data);
    }
    for (const splitter of splitters.values()) yield* splitter.end();
  }

  /**
   * Waits for the end of the output and returns all of it; throws `LaggedError` where its beginning is gone. The caller
   * answers for its size.
   */
  async text(options?: ReadOptions): Promise<string> {
    const decoders = new Map<StreamName, TextDecoder>();
    let text = '';
    for await (const { stream, data } of this.#outputs(options, false)) {
      const decoder = decoders.get(stream) ?? new TextDecoder('utf-8', { ignoreBOM: true });
      decoders.set(stream, decoder);
      text += decoder.decode(data, { stream: true });
    }
    for (const decoder of decoders.values()) text += decoder.decode();
    return text;
  }

  async *#outputs(options?: ReadOptions, mayBeginLate = true): AsyncGenerator<Piece> {
    const spilled = (options?.from ?? 0) === 0 ? this.#spilled : undefined;
    let readBytes = 0;
    try {
      for await (const event of this.#pieces(options, mayBeginLate && spilled === undefined)) {
        yield event;
        readBytes += event.data.length;
      }
    } catch (error) {
      if (spilled === undefined || !(error instanceof LaggedError)) throw error;
      const rest = spilled.read(readBytes, options?.signal);
      let piece = await rest.next();
      for (; piece.done !== true; piece = await rest.next()) yield { stream: 'stdout', data: piece.value };
      if (!piece.value) throw error;
    }
  }

  async *#pieces(options: ReadOptions | undefined, mayBeginLate: boolean): AsyncGenerator<Piece> {
    let isFirst = true;
    for await (const event of this.#session.events(toEventsOptions(options))) {
      if (event.type === 'output' && isPartOf(event.stream, this.#name)) yield event;
      if (event.type === 'gap' && !(isFirst && mayBeginLate))
        throw new LaggedError(event.fromSeq, event.toSeq);
      if (event.type === 'failed') throw event.error;
      isFirst = false;
    }
  }
}

type Piece = Pick<OutputEvent, 'stream' | 'data'>;

/** Whether a stream belongs to what was asked for. */
export function isPartOf(stream: StreamName, name: OutputName): boolean {
  return name === 'all' || (stream === 'stderr') === (name === 'stderr');
}

const READ_OPTION_NAMES: readonly (keyof ReadOptions)[] = ['from', 'signal', 'slowReader'];
const SLOW_READERS = ['wait', 'lag'] as const;

export function toEventsOptions(options: ReadOptions = {}): EventsOptions {
  checkOptions('reading', options, READ_OPTION_NAMES);
  const { from, signal, slowReader } = options;
  requireOneOf('slowReader', slowReader, SLOW_READERS);
  return {
    ...(from !== undefined && { afterSeq: from }),
    ...(signal !== undefined && { signal }),
    ...(slowReader !== undefined && { slowReader }),
  };
}
