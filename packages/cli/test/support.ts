import { PassThrough, Writable } from 'node:stream';
import type { CommandIo, EndSignal } from '../src/command-io.js';

/** A stream that keeps what is written to it, and says `said` after each piece. */
export class TextSink extends Writable {
  text = '';
  isTTY = false;
  /** Size of the terminal, where it is one. */
  columns = 80;
  rows = 24;

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error) => void): void {
    this.text += String(chunk);
    done();
    this.emit('said');
  }
}

/** A process to run commands in that is none: its signals and errors are sent by the test. */
export class FakeIo implements CommandIo {
  /** The contexts of whoever runs the tests are none of their business. */
  readonly env: Record<string, string | undefined> = { XDG_CONFIG_HOME: '/nowhere' };
  readonly stdin = Object.assign(new PassThrough(), {
    isTTY: false,
    setRawMode: (raw: boolean) => void this.rawModes.push(raw),
  });
  readonly stdout = new TextSink();
  readonly stderr = new TextSink();
  readonly exits: number[] = [];
  /** What the terminal was switched to, one after the other. */
  readonly rawModes: boolean[] = [];
  readonly #signalListeners = new Set<(signal: EndSignal) => void>();
  readonly #continueListeners = new Set<() => void>();
  readonly #errorListeners = new Set<(error: unknown) => void>();
  readonly #rejectionListeners = new Set<(reason: unknown) => void>();

  /** Listeners for signals and errors that were not taken off. */
  get listeners(): number {
    return [
      this.#signalListeners,
      this.#continueListeners,
      this.#errorListeners,
      this.#rejectionListeners,
    ].reduce((sum, { size }) => sum + size, 0);
  }

  onEndSignal(listener: (signal: EndSignal) => void): () => void {
    this.#signalListeners.add(listener);
    return () => void this.#signalListeners.delete(listener);
  }

  onContinued(listener: () => void): () => void {
    this.#continueListeners.add(listener);
    return () => void this.#continueListeners.delete(listener);
  }

  onUncaught(listener: (error: unknown) => void): () => void {
    this.#errorListeners.add(listener);
    return () => void this.#errorListeners.delete(listener);
  }

  onUnhandledRejection(listener: (reason: unknown) => void): () => void {
    this.#rejectionListeners.add(listener);
    return () => void this.#rejectionListeners.delete(listener);
  }

  exit(code: number): void {
    this.exits.push(code);
  }

  signal(signal: EndSignal): void {
    for (const listener of this.#signalListeners) listener(signal);
  }

  continue(): void {
    for (const listener of this.#continueListeners) listener();
  }

  fail(error: unknown): void {
    for (const listener of this.#errorListeners) listener(error);
  }

  reject(reason: unknown): void {
    for (const listener of this.#rejectionListeners) listener(reason);
  }
}
