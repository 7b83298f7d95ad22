import { ExecServerError } from '../errors.js';
import { toKeyText } from './keys.js';
import { ProcessHandle } from './process-handle.js';
import { type TerminalSnapshot, takeTerminalSnapshot } from './process-snapshot.js';

/** A process on a terminal. All that it shows is in `stdout`; what is typed goes to `stdin`. */
export class PtyHandle extends ProcessHandle {
  #readable: ReadableStream<Uint8Array> | undefined;

  /** What the terminal is sent, from the oldest that is retained on. One stream, to be read once. */
  get readable(): ReadableStream<Uint8Array> {
    this.#readable ??= this.stdout.stream();
    return this.#readable;
  }

  /** What is typed. Closing it sends the end-of-file character. */
  get writable(): WritableStream<string | Uint8Array> {
    return this.stdin.writable;
  }

  /** Types something. Resolves when the server has taken it. */
  write(data: string | Uint8Array): Promise<void> {
    return this.stdin.write(data);
  }

  /**
   * Presses keys: characters, names such as `Enter`, `Up` or `F1`, `C-c` for Ctrl-C, `M-x` for Alt-X. A name that does not
   * exist is an error; text is typed by `write`.
   */
  sendKeys(keys: readonly string[]): Promise<void> {
    return this.write(toKeyText(keys));
  }

  /** Sends the end-of-file character. */
  end(): Promise<void> {
    return this.stdin.end();
  }

  /** The present screen, safe to paint, with what the server has of the output. */
  override async snapshot(): Promise<TerminalSnapshot> {
    const snapshot = await takeTerminalSnapshot(this.client, this.target);
    if (snapshot === undefined)
      throw new ExecServerError('rejected', 'the terminal is too large for the server to paint its screen');
    return snapshot;
  }
}
