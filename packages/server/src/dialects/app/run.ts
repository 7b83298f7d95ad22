import { setImmediate } from 'node:timers/promises';
import { invalidRequest } from '@exec-server/protocol';
import { OsError } from '../../os-error.js';
import type { ManagedProcess, TerminalSize } from '../../process/managed-process.js';
import type { ProcessEngine } from '../../process/process-engine.js';
import type { Session } from '../../sessions/session.js';
import { terminateOnCompletion } from '../../terminate/on-completion.js';
import { terminateOnRequest } from '../../terminate/on-request.js';
import type { RunEnd, RunOutput } from './run-output.js';

/** What a process is said to have exited with when its time was up. */
const TIMEOUT_EXIT_CODE = 124;

/** On a terminal the end of input counts at the beginning of a line only. */
const NEWLINE = Buffer.from('\n');

/** A process that a client has started, until its end is told. */
export class Run {
  /** Resolves when its end can be told; nothing is left of it then, and its id is free. */
  readonly over: Promise<RunEnd>;
  #stdinClosed = false;

  constructor(
    private readonly engine: ProcessEngine,
    session: Session,
    private readonly process: ManagedProcess,
    readonly output: RunOutput,
  ) {
    this.over = output.end.then((end) => {
      terminateOnCompletion(engine, session, process);
      return end;
    });
  }

  /** True from its exit on, although output may follow. */
  get exited(): boolean {
    return this.process.hasEnded;
  }

  /** Resolves behind `over`, once its end has been told. */
  async reported(): Promise<void> {
    await this.over;
    await setImmediate();
  }

  get takesInput(): boolean {
    return this.process.stdin !== undefined;
  }

  /** Resolves when the bytes are queued. Throws an `RpcError` for bytes behind the end of the input. */
  async write(
    bytes: Buffer,
    options: { readonly end: boolean; readonly signal: AbortSignal },
  ): Promise<void> {
    if (this.#stdinClosed) {
      if (bytes.length > 0) throw invalidRequest('stdin is already closed', 'stdin_closed');
      return;
    }
    this.#stdinClosed = options.end;
    const { tty } = this.process.description;
    const typed = options.end && tty ? Buffer.concat([bytes, NEWLINE]) : bytes;
    await this.process.stdin?.write(typed, options);
  }

  /** Throws an `RpcError`. */
  resize(size: TerminalSize): void {
    if (!this.process.description.tty)
      throw invalidRequest('failed to resize PTY: process is not attached to a PTY', 'no_terminal');
    try {
      this.process.resize(size);
    } catch (error) {
      throw error instanceof OsError ? invalidRequest(`failed to resize PTY: ${error.message}`) : error;
    }
  }

  /** Kills it with everything it started. Rejects with `OsError` when somebody of it is out of reach. */
  async terminate(): Promise<void> {
    await terminateOnRequest(this.process, 'force', this.engine.clock);
  }
}

export function exitCodeOf({ exit }: RunEnd): number {
  return exit.timedOut ? TIMEOUT_EXIT_CODE : exit.exitCode;
}
