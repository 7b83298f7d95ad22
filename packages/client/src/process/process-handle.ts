import type { ParamsOf, SignalName } from '@exec-server/protocol';
import { asyncDispose } from '../dispose-symbol.js';
import { CapabilityMissingError, ExecServerError } from '../errors.js';
import type { ProcessEvent } from '../process-event.js';
import type { ProcessSession } from '../process-session.js';
import { requireCapability } from '../require-capability.js';
import type { SessionClient } from '../session-client.js';
import { drainOutput } from './drain-output.js';
import { keepPartialResult } from './errors.js';
import { Expectation, type Expected, type ExpectOptions } from './expectation.js';
import type { Outcome } from './outcome.js';
import { type OutputName, OutputView, type ReadOptions, toEventsOptions } from './output-view.js';
import { feedInput, type ProcessInput } from './process-input.js';
import type { ProcessRecord } from './process-record.js';
import type { ProcessResult } from './process-result.js';
import { type ProcessSnapshot, takeSnapshot } from './process-snapshot.js';
import { noStdinError, ProcessStdin, type StdinOptions } from './process-stdin.js';
import type { ProcessTarget } from './process-target.js';
import { readSpill } from './read-spill.js';
import { SpilledOutput } from './spilled-output.js';
import { DEFAULT_GRACE_MS } from './start-params.js';
import { type TerminateOptions, type TerminateResult, terminateProcess } from './terminate.js';
import { type WaitOptions, waitWithin } from './wait.js';
import {
  type PortCondition,
  type QuietCondition,
  type TextCondition,
  type WaitForCondition,
  type WaitForContext,
  waitForCondition,
} from './wait-for.js';

/** What a handle is made from. */
export interface ProcessHandleOptions {
  readonly client: SessionClient;
  readonly session: ProcessSession;
  /** Listens to the session since before the process could have said anything. */
  readonly record: ProcessRecord;
  readonly target: ProcessTarget;
  readonly pid: number | undefined;
  /** Names the process in messages to people. */
  readonly program: string;
  readonly stdin: StdinOptions;
  readonly graceMs: number | undefined;
  /** Whether the server writes its output to a file. */
  readonly spills: boolean;
  /** Whether everything that is in that file is to be read. @default false */
  readonly spillsFromStart?: boolean;
  /** What goes to stdin, which is closed behind it. */
  readonly input?: ProcessInput | undefined;
  /** It was attached to; the server is told when that ends. */
  readonly isAttached?: boolean;
}

/** Size of a terminal in characters. */
export interface TerminalSize {
  readonly cols: number;
  readonly rows: number;
}

/**
 * A process on the server's host. It is followed over reconnects; what it writes is there for whoever asks, also later,
 * as far as it is retained. Leaving the block of an `await using` terminates it unless it was detached.
 */
export class ProcessHandle implements AsyncDisposable, AsyncIterable<ProcessEvent> {
  /** Name of the process in its session. */
  readonly id: string;
  /** Session that the process belongs to. */
  readonly sessionId: string | undefined;
  /** Process id on the server's host, where the server tells. */
  readonly pid: number | undefined;
  readonly stdin: ProcessStdin;
  /** Standard output; of a terminal everything it shows. */
  readonly stdout: OutputView;
  readonly stderr: OutputView;
  /** Both in the order in which they came. */
  readonly all: OutputView;
  protected readonly client: SessionClient;
  protected readonly target: ProcessTarget;
  readonly #session: ProcessSession;
  readonly #record: ProcessRecord;
  readonly #options: ProcessHandleOptions;
  #inputFailure: { readonly error: unknown } | undefined;
  #detached = false;
  #expectation: Expectation | undefined;

  constructor(options: ProcessHandleOptions) {
    const { client, session, record, target, pid, stdin } = options;
    this.#options = options;
    this.#session = session;
    this.#record = record;
    this.client = client;
    this.target = target;
    this.id = target.processId;
    this.sessionId = target.sessionId ?? client.sessionId;
    this.pid = pid;
    this.stdin = new ProcessStdin(session, stdin);
    const spilled = options.spillsFromStart === true ? new SpilledOutput(client, target, session) : undefined;
    this.stdout = new OutputView(session, 'stdout', stdin.kind === 'tty' ? spilled : undefined);
    this.stderr = new OutputView(session, 'stderr');
    this.all = new OutputView(session, 'all', spilled);
    // What is over needs nobody to follow it; its history stays with the handle.
    void record.over.then(() => session.unregister());
    if (options.input !== undefined) this.#feed(options.input);
  }

  /** Number of the newest event that was seen: where `attach` and `events` can go on. */
  get cursor(): number {
    return this.#session.lastSeq;
  }

  /** How the process ended; absent while it runs. */
  get outcome(): Outcome | undefined {
    return this.#record.outcome;
  }

  /** What keeps this client from learning more of the process, where its outcome is unknown. */
  get failure(): ExecServerError | undefined {
    return this.#record.error;
  }

  /**
   * The events in order, from the oldest that is retained unless told otherwise. The process waits for one who reads
   * slowly. With `slowReader: 'lag'` it does not: `LaggedError` tells of what nobody has any more, and
   * `events({ from: error.toSeq })` goes on behind it.
   */
  events(options?: ReadOptions): AsyncIterableIterator<ProcessEvent> {
    return this.#session.events(toEventsOptions(options));
  }

  /** The same as `events()`. */
  [Symbol.asyncIterator](): AsyncIterableIterator<ProcessEvent> {
    return this.events();
  }

  /** The lines of one stream, or of both, as they come. */
  lines(stream: OutputName = 'all', options?: ReadOptions): AsyncIterableIterator<string> {
    return this[stream].lines(options);
  }

  /** Waits for the end of the process. Others may still hold its output open then. */
  async wait(options: WaitOptions = {}): Promise<Outcome> {
    await waitWithin(this.#record.ended, options, this.#record, 'the process has not ended');
    return this.outcome as Outcome;
  }

  /**
   * Waits for the end of the process and of its output, and returns what was collected. Where somebody holds the output
   * open, it returns once that is quiet, and says so.
   */
  async result(): Promise<ProcessResult> {
    await this.#settled();
    const spill = this.#options.spills ? await readSpill(this.client, this.target) : undefined;
    const result = this.#record.summarize(spill);
    if (this.#inputFailure === undefined) return result;
    keepPartialResult(this.#inputFailure.error, result);
    throw this.#inputFailure.error;
  }

  /** Writes the input, closes stdin, waits for the end, and returns what was collected. */
  async communicate(input: ProcessInput = ''): Promise<ProcessResult> {
    if (this.#options.stdin.kind === 'none') throw noStdinError();
    if (this.#options.stdin.kind !== 'tty') await requireCapability(this.client, 'processCloseStdin');
    this.#feed(input);
    return this.result();
  }

  /** Sends a signal to the whole process group. */
  async signal(name: SignalName): Promise<void> {
    const knowsAll = await this.client.supports('processSignals');
    if (!knowsAll && name !== 'SIGINT') throw new CapabilityMissingError('processSignals');
    const signal: ParamsOf<'process/signal'>['signal'] = knowsAll ? name : 'interrupt';
    await this.client.call('process/signal', { ...this.target, signal });
  }

  /** Ends the process with everything it started, and resolves when it is gone. */
  terminate(options: TerminateOptions = {}): Promise<TerminateResult> {
    const { graceMs = DEFAULT_GRACE_MS } = this.#options;
    // What it has to say at its end is not to keep it from ending.
    this.#session.letRun();
    return terminateProcess(
      {
        client: this.client,
        session: this.#session,
        record: this.#record,
        target: this.target,
        sendSignal: (name) => this.signal(name),
        settled: () => this.#settled(),
      },
      options,
      graceMs,
    );
  }

  /** Sets the size of its terminal. */
  async resize({ rows, cols }: TerminalSize): Promise<void> {
    await requireCapability(this.client, 'processSize');
    await this.client.call('process/resize', { ...this.target, rows, cols });
  }

  /**
   * Waits until a line comes or a text shows, and returns it; until a port is open; or until the output is quiet. Rejects
   * with `WaitTimeoutError` when that takes longer than `timeoutMs`, and with `ExitError` when the process ends first.
   */
  waitFor(condition: TextCondition): Promise<string>;
  waitFor(condition: PortCondition | QuietCondition): Promise<undefined>;
  async waitFor(condition: WaitForCondition): Promise<string | undefined> {
    return waitForCondition(condition, this.#waitContext);
  }

  /**
   * Waits for a text, or one that matches, in what the process writes, from where the last `expect` ended; answers with the
   * match and what came before it. Rejects as `waitFor` does.
   */
  expect(pattern: string | RegExp, options?: ExpectOptions): Promise<Expected> {
    this.#expectation ??= new Expectation(this.#waitContext);
    return this.#expectation.expect(pattern, options);
  }

  get #waitContext(): WaitForContext {
    const { client } = this;
    return { client, session: this.#session, record: this.#record, program: this.#options.program };
  }

  /** What the server has of the process at this moment: how its output began and how it goes on now. */
  snapshot(): Promise<ProcessSnapshot> {
    return takeSnapshot(this.client, this.target);
  }

  /** Lets go of the process and leaves it alone. It ends with its session, or `keepAliveMs` after. */
  detach(): void {
    if (this.#detached) return;
    this.#detached = true;
    this.#session.unregister();
    this.#record.abandon('its handle was detached');
    if (this.#options.isAttached === true)
      this.client.call('process/detach', { ...this.target }).catch(() => {});
  }

  /** Terminates the process unless it has ended or was detached. */
  async [asyncDispose](): Promise<void> {
    if (this.#detached) return;
    try {
      if (this.outcome === undefined) await this.terminate();
    } catch (error) {
      // Without a connection the session ends it.
      if (!isConnectionGone(error)) throw error;
    } finally {
      this.detach();
    }
  }

  async #settled(): Promise<void> {
    await this.#record.ended;
    await drainOutput(this.#session, this.#record);
  }

  /** Feeds stdin beside everything else; what goes wrong with the source ends the process and comes out of `result`. */
  #feed(input: ProcessInput): void {
    feedInput(this.stdin, input, this.#record).catch((error: unknown) => {
      this.#inputFailure = { error };
      // A connection that is lost ends the wait for the process as well.
      this.terminate().catch(() => {});
    });
  }
}

/** Whether there is no connection any more to do it over; the session ends its processes then. */
export function isConnectionGone(error: unknown): boolean {
  return (
    error instanceof ExecServerError && (error.code === 'connection_lost' || error.code === 'session_expired')
  );
}
