import { CapabilityMissingError, ExecServerError } from '../errors.js';
import type { ProcessSession } from '../process-session.js';

/** Bytes in one message at most, so that a long input neither fills the connection nor waits for it as a whole. */
const MAX_PIECE_BYTES = 256 * 1024;

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
  #last: Promise<void> = Promise.resolve();
  #ended = false;
  #writable: WritableStream<string | Uint8Array> | undefined;

  constructor(session: Pick<ProcessSession, 'processId' | 'write'>, options: StdinOptions) {
    this.#session = session;
    this.#options = options;
  }

  /** Resolves when the server has taken all of it. */
  write(data: string | Uint8Array): Promise<void> {
    return this.#enqueue(() => this.#send(toBytes(data), false));
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
    const ending = this.#enqueue(() => this.#send(toBytes(data ?? ''), true));
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

  /** One after the other, so that a long write is not interrupted by the next. */
  #enqueue(send: () => Promise<void>): Promise<void> {
    if (this.#options.kind === 'none')
      return Promise.reject(
        new ExecServerError('usage', "the process was started without stdin; start it with `stdin: 'pipe'`"),
      );
    if (this.#ended) return Promise.reject(new ExecServerError('usage', 'stdin has been ended'));
    const sent = this.#last.then(send);
    this.#last = sent.catch(() => {});
    return sent;
  }

  async #send(bytes: Uint8Array, closeStdin: boolean): Promise<void> {
    let offset = 0;
    do {
      const piece = bytes.subarray(offset, offset + MAX_PIECE_BYTES);
      offset += piece.length;
      const isLast = offset === bytes.length;
      await this.#sendPiece(piece, closeStdin && isLast);
    } while (offset < bytes.length);
  }

  async #sendPiece(piece: Uint8Array, closeStdin: boolean): Promise<void> {
    const { status } = await this.#session.write(piece, closeStdin ? { closeStdin } : {});
    if (status === 'accepted') return;
    const { processId } = this.#session;
    if (status === 'unknownProcess')
      throw new ExecServerError('process_unknown', `unknown process id ${processId}`);
    throw new ExecServerError('usage', `stdin of process ${processId} is not open (${status})`);
  }
}

function toBytes(data: string | Uint8Array): Uint8Array {
  return typeof data === 'string' ? new TextEncoder().encode(data) : data;
}
