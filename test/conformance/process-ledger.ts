import type { WireMessage } from '@exec-server/testing';
import type { Bindings } from './placeholders.js';

interface Chunk {
  readonly stream: string;
  readonly bytes: Buffer;
}

interface ReadChunk {
  readonly seq: number;
  readonly stream: string;
  readonly chunk: string;
}

/** The result of `process/read`, unchecked. */
export interface ReadResult {
  readonly chunks: readonly ReadChunk[];
  readonly nextSeq: number;
  readonly exited: boolean;
  readonly exitCode: number | null;
  readonly closed: boolean;
  readonly failure: string | null;
  readonly sandboxDenied: boolean;
}

const PROCESS_EVENTS: ReadonlySet<unknown> = new Set(['process/output', 'process/exited', 'process/closed']);

/** Whether `message` tells of a process, whose events the reference emits in no fixed order. */
export function isProcessEvent(message: WireMessage): boolean {
  // The app dialect has a `process/exited` of its own, about a handle.
  return PROCESS_EVENTS.has(message.method) && message.params?.processId !== undefined;
}

/** All that is known of one process, whether it was pushed or read, and however it was cut into chunks. */
export class ProcessLedger {
  readonly #bindings: Bindings;
  readonly #chunks = new Map<number, Chunk>();
  readonly #faults: string[] = [];
  #exit: { readonly seq: number; readonly exitCode: unknown; readonly sandboxDenied: unknown } | undefined;
  #closedSeq: number | undefined;

  constructor(bindings: Bindings) {
    this.#bindings = bindings;
  }

  recordEvent({ method, params = {} }: WireMessage): void {
    const seq = Number(params.seq);
    if (method === 'process/output') {
      this.#recordChunk({ seq, stream: String(params.stream), chunk: String(params.chunk) });
    } else if (method === 'process/exited') {
      if (this.#exit !== undefined) this.#faults.push('exited twice');
      this.#exit = { seq, exitCode: params.exitCode, sandboxDenied: params.sandboxDenied };
    } else {
      if (this.#closedSeq !== undefined) this.#faults.push('closed twice');
      this.#closedSeq = seq;
    }
  }

  recordRead(result: ReadResult): void {
    for (const chunk of result.chunks) this.#recordChunk(chunk);
    const known = [...this.#chunks.keys()].filter((seq) => seq < result.nextSeq).length;
    const events = known + Number(result.exited) + Number(result.closed);
    if (result.nextSeq !== events + 1) {
      this.#faults.push(`read: nextSeq ${result.nextSeq} after ${events} events`);
    }
  }

  #recordChunk({ seq, stream, chunk }: ReadChunk): void {
    const bytes = this.#bindings.decodeChunk(chunk);
    const known = this.#chunks.get(seq);
    if (known === undefined) this.#chunks.set(seq, { stream, bytes });
    else if (known.stream !== stream || !known.bytes.equals(bytes)) {
      this.#faults.push(`seq ${seq} has two contents`);
    }
  }

  /** Output by stream, in order. */
  output(): Map<string, Buffer> {
    const streams = new Map<string, Buffer>();
    for (const [, { stream, bytes }] of [...this.#chunks].sort(([left], [right]) => left - right)) {
      streams.set(stream, Buffer.concat([streams.get(stream) ?? Buffer.alloc(0), bytes]));
    }
    return streams;
  }

  /** Whether everything that `recorded` knows has happened here too, or can no longer happen. */
  covers(recorded: ProcessLedger): boolean {
    if (this.#closedSeq !== undefined) return true;
    if (recorded.#closedSeq !== undefined) return false;
    if (recorded.#exit !== undefined && this.#exit === undefined) return false;
    const output = this.output();
    return [...recorded.output()].every(
      ([stream, bytes]) => (output.get(stream)?.length ?? 0) >= bytes.length,
    );
  }

  /** How this process differs from the recorded one. */
  compare(recorded: ProcessLedger): string[] {
    const differences = [...this.#faults, ...this.#findGaps()];
    const [mine, theirs] = [this.output(), recorded.output()];
    for (const stream of new Set([...mine.keys(), ...theirs.keys()])) {
      const [actual, expected] = [mine.get(stream)?.toString(), theirs.get(stream)?.toString()];
      if (actual !== expected) {
        differences.push(`${stream}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(actual)}`);
      }
    }
    for (const member of ['exitCode', 'sandboxDenied'] as const) {
      const [actual, expected] = [this.#exit?.[member], recorded.#exit?.[member]];
      if (actual !== expected)
        differences.push(`${member}: expected ${String(expected)}, got ${String(actual)}`);
    }
    if ((this.#closedSeq === undefined) !== (recorded.#closedSeq === undefined)) {
      differences.push(`closed: expected ${recorded.#closedSeq !== undefined}`);
    }
    return differences;
  }

  #findGaps(): string[] {
    const ends = [this.#exit?.seq, this.#closedSeq].filter((seq) => seq !== undefined);
    const seqs = [...this.#chunks.keys(), ...ends].sort((left, right) => left - right);
    const gaps = seqs.every((seq, index) => seq === index + 1)
      ? []
      : [`seq is not 1, 2, 3…: ${seqs.join(', ')}`];
    if (this.#closedSeq !== undefined && this.#closedSeq !== seqs.at(-1))
      gaps.push('closed is not the last event');
    return gaps;
  }
}

/** Compares two reads by content: the bytes of each stream, not how they were cut. */
export function compareReads(
  expected: ReadResult,
  actual: ReadResult,
  waited: boolean,
  bindings: Bindings,
): string[] {
  const differences: string[] = [];
  const [theirs, mine] = [joinChunks(expected, bindings), joinChunks(actual, bindings)];
  if (theirs !== mine) differences.push(`chunks: expected ${theirs}, got ${mine}`);
  for (const member of ['exited', 'exitCode', 'closed', 'failure', 'sandboxDenied'] as const) {
    // Exit wakes a waiting read, and whether the streams have ended by then is a matter of luck.
    if (member === 'closed' && waited && expected.exited) continue;
    if (expected[member] !== actual[member]) {
      differences.push(`${member}: expected ${expected[member]}, got ${actual[member]}`);
    }
  }
  return differences;
}

function joinChunks({ chunks }: ReadResult, bindings: Bindings): string {
  const streams: Record<string, string> = {};
  for (const { stream, chunk } of chunks) {
    streams[stream] = (streams[stream] ?? '') + bindings.decodeChunk(chunk).toString('latin1');
  }
  return JSON.stringify(streams, Object.keys(streams).sort());
}
