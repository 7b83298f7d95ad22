import { checkOptions } from '../check-options.js';
import { type Clock, systemClock } from '../clock.js';
import { asyncDispose } from '../dispose-symbol.js';
import { Listeners } from '../low-level/listeners.js';
import { createRandomId } from '../random-id.js';
import { requireWholeNumber, usageError } from '../usage.js';
import {
  type ExecCommandArgs,
  parseMembers,
  readExecCommandArgs,
  readWriteStdinArgs,
  type WriteStdinArgs,
} from './arguments.js';
import { UnifiedExecError } from './errors.js';
import type { UnifiedExecEvent } from './events.js';
import type { ExecSession } from './exec-session.js';
import {
  DEFAULT_EXEC_YIELD_MS,
  DEFAULT_MAX_OUTPUT_TOKENS,
  DEFAULT_MAX_POLL_YIELD_MS,
  DEFAULT_WRITE_YIELD_MS,
  EARLY_EXIT_MS,
  MIN_POLL_YIELD_MS,
  REACTION_MS,
} from './limits.js';
import {
  UNIFIED_EXEC_OPTION_NAMES,
  type UnifiedExecCallOptions,
  type UnifiedExecClient,
  type UnifiedExecOptions,
} from './options.js';
import { createReply, type UnifiedExecReply } from './reply.js';
import { SessionStore } from './session-store.js';
import { type PreparedCommand, prepareCommand } from './start-command.js';
import { startSession } from './start-session.js';
import {
  execYieldMs,
  HoldableTimers,
  pollYieldMs,
  type StartTimer,
  waitAtMost,
  writeYieldMs,
} from './yield-window.js';

const EXEC_COMMAND_ARGS: readonly (keyof ExecCommandArgs)[] = [
  'cmd',
  'workdir',
  'shell',
  'login',
  'tty',
  'yieldTimeMs',
  'maxOutputTokens',
];
const WRITE_STDIN_ARGS: readonly (keyof WriteStdinArgs)[] = [
  'sessionId',
  'chars',
  'yieldTimeMs',
  'maxOutputTokens',
];

/** A command that goes on, or whose end was not reported yet. */
export interface UnifiedExecSession {
  readonly sessionId: number;
  /** Id of the call that started it. */
  readonly callId: string;
  readonly tty: boolean;
  readonly hasExited: boolean;
}

/** Runs commands for a model. `machine` may also be a low-level client. */
export function createUnifiedExec(
  machine: { readonly client: UnifiedExecClient } | UnifiedExecClient,
  options: UnifiedExecOptions = {},
): UnifiedExec {
  return new UnifiedExec('client' in machine ? machine.client : machine, options);
}

/**
 * Two calls that are enough for a model: `execCommand` runs a command and comes back with its end or, when that takes
 * too long, with the id of a session; `writeStdin` types into that session, or waits for it. Each call returns what was
 * written since the one before. Calls about one session take turns.
 */
export class UnifiedExec implements AsyncDisposable {
  readonly #client: UnifiedExecClient;
  readonly #options: UnifiedExecOptions;
  readonly #clock: Clock;
  readonly #startTimer: StartTimer = (delayMs, task) => this.#clock.after(delayMs, task);
  readonly #yieldTimers: HoldableTimers;
  readonly #sessions = new SessionStore<ExecSession>();
  /** All that run, also those that no call can name. */
  readonly #running = new Set<ExecSession>();
  readonly #listeners = new Listeners<UnifiedExecEvent>();
  #isClosed = false;

  /** Made by `createUnifiedExec`. */
  constructor(client: UnifiedExecClient, options: UnifiedExecOptions) {
    checkOptions('createUnifiedExec', options, UNIFIED_EXEC_OPTION_NAMES);
    requireWholeNumber('maxPollYieldMs', options.maxPollYieldMs, MIN_POLL_YIELD_MS);
    requireWholeNumber('outputLimitBytes', options.outputLimitBytes);
    this.#client = client;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#yieldTimers = new HoldableTimers(this.#clock);
  }

  /** Sessions that `writeStdin` can name, the one that was used longest ago first. */
  get sessions(): readonly UnifiedExecSession[] {
    return this.#sessions
      .list()
      .map(({ sessionId, callId, tty, hasExited }) => ({ sessionId, callId, tty, hasExited }));
  }

  /**
   * Runs a command and waits for its end as long as it may. Rejects with `UnifiedExecError`, whose message is for the
   * model, when it cannot be started; with other errors where the connection is at fault.
   */
  async execCommand(
    args: ExecCommandArgs,
    { callId = createRandomId(), signal }: UnifiedExecCallOptions = {},
  ): Promise<UnifiedExecReply> {
    checkOptions('execCommand', args, EXEC_COMMAND_ARGS);
    this.#checkCall(args);
    if (typeof args.cmd !== 'string') throw usageError('`cmd` is the text of a command');
    const { yieldTimeMs = DEFAULT_EXEC_YIELD_MS } = args;
    const { platformOs } = await this.#client.environment();
    const command = await prepareCommand(this.#client, args, this.#options);
    const session = await this.#start(command, callId, signal);
    return session.inTurn(async () => {
      await this.#waitForEarlyExit(session, signal);
      const yieldMs = execYieldMs(yieldTimeMs, platformOs === 'windows');
      return this.#collect(session, yieldMs, args.maxOutputTokens, signal);
    });
  }

  /**
   * Types into a session, or only waits for it. Rejects with `UnifiedExecError`, whose message is for the model, when
   * there is no such session or it takes no input.
   */
  async writeStdin(
    args: WriteStdinArgs,
    { signal }: Pick<UnifiedExecCallOptions, 'signal'> = {},
  ): Promise<UnifiedExecReply> {
    checkOptions('writeStdin', args, WRITE_STDIN_ARGS);
    this.#checkCall(args);
    const { sessionId, chars = '', yieldTimeMs = DEFAULT_WRITE_YIELD_MS } = args;
    const session = this.#findSession(sessionId);
    this.#sessions.touch(session);
    return session.inTurn(async () => {
      signal?.throwIfAborted();
      // The call before may have reported its end.
      this.#findSession(sessionId);
      if (chars !== '') await this.#send(session, chars, signal);
      const { maxPollYieldMs = DEFAULT_MAX_POLL_YIELD_MS } = this.#options;
      const yieldMs = chars === '' ? pollYieldMs(yieldTimeMs, maxPollYieldMs) : writeYieldMs(yieldTimeMs);
      const reply = await this.#collect(session, yieldMs, args.maxOutputTokens, signal);
      if (chars !== '' || reply.sessionId !== undefined) {
        this.#listeners.tell({
          type: 'terminalInteraction',
          callId: session.callId,
          sessionId,
          stdin: chars,
        });
      }
      return reply;
    });
  }

  /**
   * Makes the call that a model asked for, by the name of the tool and its arguments as JSON, and returns the text for
   * the model: a reply, or what was wrong with the call. Rejects where the connection is at fault.
   */
  async callTool(name: string, args: string | object, options: UnifiedExecCallOptions = {}): Promise<string> {
    try {
      switch (name) {
        case 'exec_command':
          return (await this.execCommand(readExecCommandArgs(parseMembers(args)), options)).text;
        case 'write_stdin':
          return (await this.writeStdin(readWriteStdinArgs(parseMembers(args)), options)).text;
        default:
          throw usageError(
            `no tool is called ${JSON.stringify(name)}; there are exec_command and write_stdin`,
          );
      }
    } catch (error) {
      if (error instanceof UnifiedExecError) return error.message;
      throw error;
    }
  }

  /** Calls `listener` for each event until the function it returns is called. */
  onEvent(listener: (event: UnifiedExecEvent) => void): () => void {
    return this.#listeners.add(listener);
  }

  /**
   * Stops the time of all yield windows until the function it returns is called: while a person is asked something, no
   * call should come back for want of their answer.
   */
  holdYield(): () => void {
    return this.#yieldTimers.hold();
  }

  /** Ends a session, with everything it started. A call that waits for it reports its end. */
  async terminate(sessionId: number): Promise<void> {
    await this.#findSession(sessionId).kill();
  }

  /** Ends all commands. The machine stays connected. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(Array.from(this.#running, (session) => session.kill()));
  }

  [asyncDispose](): Promise<void> {
    return this.close();
  }

  #checkCall({
    yieldTimeMs,
    maxOutputTokens,
  }: Pick<ExecCommandArgs, 'yieldTimeMs' | 'maxOutputTokens'>): void {
    if (this.#isClosed) throw usageError('this unified exec was closed');
    requireWholeNumber('yieldTimeMs', yieldTimeMs);
    requireWholeNumber('maxOutputTokens', maxOutputTokens);
  }

  #findSession(sessionId: number): ExecSession {
    const session = this.#sessions.get(sessionId);
    if (session === undefined) throw UnifiedExecError.unknownSession(sessionId);
    return session;
  }

  async #start(
    command: PreparedCommand,
    callId: string,
    signal: AbortSignal | undefined,
  ): Promise<ExecSession> {
    const sessionId = this.#sessions.reserveId();
    const host = {
      client: this.#client,
      options: this.#options,
      clock: this.#clock,
      publish: (event: UnifiedExecEvent) => this.#listeners.tell(event),
    };
    try {
      const session = await startSession(host, command, { callId, sessionId }, signal);
      this.#running.add(session);
      void session.record.ended.then(() => this.#running.delete(session));
      if (this.#isClosed) await session.kill();
      return session;
    } catch (error) {
      this.#sessions.releaseId(sessionId);
      throw error;
    }
  }

  /** Makes a session of a command that does not end at once, before anybody waits for it or gives up waiting. */
  async #waitForEarlyExit(session: ExecSession, signal: AbortSignal | undefined): Promise<void> {
    try {
      await waitAtMost(session.record.exited, EARLY_EXIT_MS, this.#startTimer, signal);
    } finally {
      if (session.hasExited) this.#sessions.releaseId(session.sessionId);
      else for (const victim of this.#sessions.add(session)) victim.kill().catch(() => {});
    }
  }

  async #send(session: ExecSession, chars: string, signal: AbortSignal | undefined): Promise<void> {
    await session.send(chars);
    if (session.tty) await waitAtMost(session.record.drained, REACTION_MS, this.#startTimer, signal);
  }

  async #collect(
    session: ExecSession,
    yieldMs: number,
    maxOutputTokens: number | undefined,
    signal: AbortSignal | undefined,
  ): Promise<UnifiedExecReply> {
    const startedAtMs = this.#clock.now();
    await waitAtMost(session.record.drained, yieldMs, this.#yieldTimers.start, signal);
    const { outcome } = session.record;
    if (outcome !== undefined) this.#sessions.remove(session);
    return createReply({
      collected: session.record.drain(),
      wallTimeMs: this.#clock.now() - startedAtMs,
      sessionId: outcome === undefined ? session.sessionId : undefined,
      outcome,
      maxOutputTokens: maxOutputTokens ?? DEFAULT_MAX_OUTPUT_TOKENS,
      outputLimitBytes: this.#options.outputLimitBytes,
    });
  }
}
