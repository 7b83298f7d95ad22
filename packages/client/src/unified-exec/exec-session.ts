import { ExecServerError } from '../errors.js';
import { isConnectionGone, type ProcessHandle } from '../process/process-handle.js';
import { UnifiedExecError } from './errors.js';
import type { SessionRecord } from './session-record.js';

/** The character that interrupts. */
const INTERRUPT = '\u0003';

/** What a session is made from. */
export interface ExecSessionOptions {
  readonly sessionId: number;
  readonly callId: string;
  readonly tty: boolean;
  readonly handle: ProcessHandle;
  readonly record: SessionRecord;
}

/** A command that was started, and the calls about it. */
export class ExecSession {
  readonly sessionId: number;
  readonly callId: string;
  readonly tty: boolean;
  readonly record: SessionRecord;
  readonly #handle: ProcessHandle;
  #lastCall: Promise<unknown> = Promise.resolve();
  #calls = 0;

  constructor({ sessionId, callId, tty, handle, record }: ExecSessionOptions) {
    this.sessionId = sessionId;
    this.callId = callId;
    this.tty = tty;
    this.record = record;
    this.#handle = handle;
  }

  get hasExited(): boolean {
    return this.record.outcome !== undefined;
  }

  /** Whether a call is in progress. */
  get isBusy(): boolean {
    return this.#calls > 0;
  }

  /** Makes a call when those before it are over. */
  async inTurn<T>(call: () => Promise<T>): Promise<T> {
    this.#calls++;
    const turn = this.#lastCall.then(call);
    this.#lastCall = turn.catch(() => {});
    return turn.finally(() => this.#calls--);
  }

  /** Types something, or interrupts a command without a terminal. One that has ended takes anything. */
  async send(chars: string): Promise<void> {
    if (!this.tty && chars !== INTERRUPT) throw UnifiedExecError.stdinClosed();
    if (this.hasExited) return;
    try {
      await (this.tty ? this.#handle.stdin.write(chars) : this.#handle.signal('SIGINT'));
    } catch (error) {
      // It ended meanwhile, which the reply tells.
      if (!isTooLate(error)) throw error;
    }
  }

  /** Ends the command with everything it started, at once. Without a connection the server does that by itself. */
  async kill(): Promise<void> {
    try {
      await this.#handle.terminate({ graceMs: 0 });
    } catch (error) {
      if (!isConnectionGone(error)) throw error;
    }
  }
}

/** Whether a process could not be written or signalled to because it has ended. */
function isTooLate(error: unknown): boolean {
  return error instanceof ExecServerError && TOO_LATE.has(error.code);
}

/** What servers and handles say of a process that is gone, and of one whose stdin is. */
const TOO_LATE: ReadonlySet<string> = new Set(['process_unknown', 'process_expired', 'usage']);
