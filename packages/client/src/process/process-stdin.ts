import { CapabilityMissingError, ExecServerError } from '../errors.js';
import type { ProcessSession, WriteOptions } from '../process-session.js';
import { usageError } from '../usage.js';

/** The terminal's character for the end of input. */
const END_OF_TRANSMISSION = Uint8Array.of(4);

/** What a process reads from. */
export interface StdinOptions {
  /** A pipe, a terminal, or nothing. */
  readonly kind: 'pipe' | 'tty' | 'none';
  /** Whether the server can close stdin. */
  readonly canClose: boolean;
}

/**
 * Writes to a process. A write is settled when the server has taken it, which it does within its own limit on what the
 * process has not read: waiting for each write is the back-pressure. Writes keep their order.
 */
export class ProcessStdin {
  readonly #session: Pick<ProcessSession, 'processId' | 'write'>;
  readonly #options: StdinOptions;
  #ended = false;
  #writable: WritableStream<string | Uint8Array> | undefined;

  constructor(session: Pick<ProcessSession, 'processId' | 'write'>, options: StdinOptions) {
    this.#session = session;
    this.#options = options;
  }

  /** Resolves when the server has taken all of it. */
  write(data: string | Uint8Array): Promise<void> {
    return this.#send(data);
  }

  /**
   * Ends the input, behind `data` where given. On a terminal it sends the end-of-file character, and more can be
   * written. Does nothing when it was ended before.
   */
  async end(data?: string | Uint8Array): Promise<void> {
    if (this.#ended && data === undefined) return;
    const { kind, canClose } = this.#options;
    if (kind === 'tty' && !canClose) {
      if (data !== undefined) await this.write(data);
      return this.write(END_OF_TRANSMISSION);
    }
    if (kind !== 'none' && !canClose) throw new CapabilityMissingError('processCloseStdin');
    const ending = this.#send(data ?? '', { closeStdin: true });
    if (kind === 'pipe') this.#ended = true;
    await ending;
  }

  /** The same as a stream; closing it ends the input, aborting it leaves the input open. */
  get writable(): WritableStream<string | Uint8Array> {
    this.#writable ??= new WritableStream<string | Uint8Array>({
      write: (data) => this.write(data),
      close: () => this.end(),
    });
    return this.#writable;
  }

  async #send(data: string | Uint8Array, options: WriteOptions = {}): Promise<void> {
    if (this.#options.kind === 'none') throw noStdinError();
    if (this.#ended) throw usageError('stdin has been ended');
    const { processId } = this.#session;
    const { status } = await this.#session.write(toBytes(data), options);
    if (status === 'accepted') return;
    if (status === 'unknownProcess')
      throw new ExecServerError('process_unknown', `unknown process id ${processId}`);
    throw usageError(`stdin of process ${processId} is not open (${status})`);
  }
}

/** Nobody would read it. */
export function noStdinError(): ExecServerError {
  return usageError("the process was started without stdin; start it with `stdin: 'pipe'`");
}

function toBytes(data: string | Uint8Array): Uint8Array {
  return typeof data === 'string' ? new TextEncoder().encode(data) : data;
}
