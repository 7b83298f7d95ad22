import type { app } from '@exec-server/protocol';
import type { EndReader } from '../../output/exit-after-output.js';
import { GrowingBuffer } from '../../output/growing-buffer.js';
import type { RetainedChunk } from '../../output/retained-chunk.js';
import { StreamCap } from '../../output/stream-cap.js';
import type { ProcessExit } from '../../process/process-exit.js';
import type { ConnectionScope } from '../dialect.js';
import { decodeOutput } from './decode-output.js';

/** Most that is collected of one stream, in bytes, whatever its cap: both streams have to fit into one message. */
export const MAX_COLLECTED_BYTES = 24 * 1024 * 1024;

/** A piece of output on its way to the client. */
export interface OutputDelta {
  readonly stream: app.OutputStreamName;
  readonly deltaBase64: string;
  readonly capReached: boolean;
}

/** How a process ended, as its output tells it. */
export interface RunEnd {
  readonly exit: ProcessExit;
  /** False when somebody still held a stream open. */
  readonly drained: boolean;
}

/** One stream: what is let through, and what of it is kept. */
interface OwnStream {
  readonly cap: StreamCap;
  readonly collected: GrowingBuffer;
}

export interface RunOutputOptions {
  /** Bytes of each stream that are sent or collected; `Infinity` for all. */
  readonly capBytes: number;
  /** Sends output as it comes. @default it is collected */
  readonly send?: ((delta: OutputDelta) => void) | undefined;
}

/** The output of one process up to the caps of its streams: sent as it comes, or collected for its report. */
export class RunOutput implements EndReader {
  /** Resolves when nothing more will come. */
  readonly end: Promise<RunEnd>;
  readonly #streams: Readonly<Record<app.OutputStreamName, OwnStream>>;
  #resolveEnd!: (end: RunEnd) => void;

  constructor(
    private readonly connection: Pick<ConnectionScope, 'writable' | 'whenWritable'>,
    private readonly options: RunOutputOptions,
  ) {
    this.end = new Promise((resolve) => {
      this.#resolveEnd = resolve;
    });
    const { capBytes, send } = options;
    // One byte more tells a stream that fits from one that does not.
    const cap = send === undefined ? Math.min(capBytes, MAX_COLLECTED_BYTES + 1) : capBytes;
    const open = () => ({ cap: new StreamCap(cap), collected: new GrowingBuffer() });
    this.#streams = { stdout: open(), stderr: open() };
  }

  get writable(): boolean {
    return this.options.send === undefined || this.connection.writable;
  }

  whenWritable(): Promise<void> {
    return this.options.send === undefined ? Promise.resolve() : this.connection.whenWritable();
  }

  output({ stream: source, data }: RetainedChunk): void {
    const stream = source === 'pty' ? 'stdout' : source;
    const { cap, collected } = this.#streams[stream];
    const part = cap.take(data);
    if (part === undefined) return;
    const { send } = this.options;
    if (send === undefined) collected.append(part);
    else send({ stream, deltaBase64: part.toString('base64'), capReached: cap.reached });
  }

  ended(exit: ProcessExit, drained: boolean): void {
    this.#resolveEnd({ exit, drained });
  }

  capReached(stream: app.OutputStreamName): boolean {
    return this.#streams[stream].cap.reached;
  }

  /** True when less was collected than the request allows, because no message could carry it. */
  get overflowed(): boolean {
    const isAllowed = this.options.send === undefined && this.options.capBytes > MAX_COLLECTED_BYTES;
    return isAllowed && (this.capReached('stdout') || this.capReached('stderr'));
  }

  /** What was collected of a stream. */
  text(stream: app.OutputStreamName): string {
    return decodeOutput(this.#streams[stream].collected.bytes);
  }
}
