import {
  ExecServerError,
  type ExitedEvent,
  type NodeMachine,
  type OutputEvent,
  type ProcessEvent,
  type ProcessSession,
  RejectedError,
} from '@exec-server/client';

/** How a worker ended. */
export type WorkerEnd =
  | { readonly kind: 'exited'; readonly exit: ExitedEvent }
  /** Nobody knows. */
  | { readonly kind: 'unknown'; readonly reason: string };

/** What is done with the output of a worker. */
export interface OutputListener {
  output(event: OutputEvent): void;
  /** Output up to there is lost. */
  gap(toSeq: number): void;
}

/** What a process is started with. */
export interface WorkerStart {
  readonly processId: string;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly inheritEnv: 'core' | 'all' | 'none';
  /** A `file:` URI. */
  readonly cwd: string;
  readonly timeoutMs: number;
  readonly graceMs: number;
  readonly keepAliveMs: number;
  readonly tags: Readonly<Record<string, string>>;
  /** What the worker reads. */
  readonly input: string;
}

/** The process could not be started: there is none. */
export class SpawnError extends Error {
  override readonly name = 'SpawnError';
}

/** Output that somebody else holds open counts as complete when nothing came for so long, in milliseconds. */
const OUTPUT_QUIET_MS = 100;
/** And at the latest so long after the end of the worker, in milliseconds. */
const OUTPUT_DRAIN_LIMIT_MS = 2_000;
/** Names the one write that a worker's stdin gets, so that it arrives once also when it is sent again. */
const INPUT_WRITE_ID = 'row';

/** A worker on a machine, followed over reconnects. */
export class WorkerProcess {
  /** Settles when the worker has ended and its output is complete, or when nothing more can be learned of it. */
  readonly ended: Promise<WorkerEnd>;
  readonly #resolveEnded: (end: WorkerEnd) => void;
  #exit: ExitedEvent | undefined;
  #quiet: NodeJS.Timeout | undefined;
  #limit: NodeJS.Timeout | undefined;

  private constructor(
    private readonly machine: NodeMachine,
    private readonly session: ProcessSession,
    private readonly target: { readonly processId: string; readonly sessionId?: string },
    private readonly listener: OutputListener,
  ) {
    let resolveEnded: (end: WorkerEnd) => void = () => {};
    this.ended = new Promise((resolve) => {
      resolveEnded = resolve;
    });
    this.#resolveEnded = resolveEnded;
    session.listen((event) => this.#take(event));
  }

  /** Starts a worker. Rejects with {@link SpawnError} where there is none; otherwise nobody knows whether there is one. */
  static async start(
    machine: NodeMachine,
    start: WorkerStart,
    listener: OutputListener,
  ): Promise<WorkerProcess> {
    const { client } = machine;
    const { processId } = start;
    const session = client.registerProcess(processId);
    const worker = new WorkerProcess(machine, session, { processId }, listener);
    try {
      const { existing } = await client.call('process/start', await toParams(machine, start));
      // A start that was under way when an earlier runner ended.
      if (existing === true) await session.catchUp();
      worker.#feed(start.input);
      return worker;
    } catch (error) {
      session.unregister();
      if (error instanceof RejectedError) throw new SpawnError(error.message, { cause: error });
      throw error;
    }
  }

  /** Follows a worker that an earlier runner started. Answers why it cannot, where its machine does not have it. */
  static async adopt(
    machine: NodeMachine,
    from: { readonly processId: string; readonly sessionId: string; readonly afterSeq: number },
    input: string,
    listener: OutputListener,
  ): Promise<WorkerProcess | 'unknown' | 'forgotten'> {
    const { client } = machine;
    const { processId, sessionId, afterSeq } = from;
    const isOwn = sessionId === client.sessionId;
    const target = isOwn ? { processId } : { processId, sessionId };
    const session = client.registerProcess(processId, { ...target, afterSeq });
    const worker = new WorkerProcess(machine, session, target, listener);
    try {
      if (isOwn) await client.call('process/read', { processId, afterSeq: Number.MAX_SAFE_INTEGER });
      else await client.call('process/attach', { processId, sessionId, afterSeq, mode: 'control' });
      if (isOwn) await session.catchUp();
      worker.#feed(input);
      return worker;
    } catch (error) {
      session.unregister();
      if (!(error instanceof ExecServerError)) throw error;
      if (error.code === 'process_expired') return 'forgotten';
      if (error.code === 'process_unknown' || error.code === 'rejected') return 'unknown';
      throw error;
    }
  }

  /** Number of the newest event. */
  get lastSeq(): number {
    return this.session.lastSeq;
  }

  /** Ends it with everything that it started: SIGTERM, and SIGKILL after the grace, in milliseconds. */
  async terminate(graceMs: number): Promise<void> {
    const mode = { graceful: { timeoutMs: graceMs, signal: 'SIGTERM' as const } };
    const how = (await this.machine.client.supports('processGracefulTerminate')) ? { mode, wait: true } : {};
    const { running } = await this.machine.client.call(
      'process/terminate',
      { ...this.target, ...how },
      { resend: true },
    );
    if (!running && !this.session.isOver) await this.session.catchUp();
  }

  /** Lets the machine forget it, whose end is known. */
  async release(): Promise<void> {
    this.#stopTimers();
    this.session.unregister();
    const { client } = this.machine;
    // One that still runs, because nobody knows its end, is refused.
    if (await client.supports('processRemove'))
      await client.call('process/remove', this.target).catch(() => {});
  }

  /** What it cannot read, because it has ended or closed its stdin, it does not need. */
  #feed(input: string): void {
    const chunk = Buffer.from(input).toString('base64');
    this.machine.client
      .call(
        'process/write',
        { ...this.target, chunk, writeId: INPUT_WRITE_ID, closeStdin: true },
        { resend: true },
      )
      .catch(() => {});
  }

  #take(event: ProcessEvent): void {
    switch (event.type) {
      case 'output':
        this.listener.output(event);
        if (this.#exit !== undefined) this.#waitForQuiet();
        break;
      case 'gap':
        this.listener.gap(event.toSeq);
        break;
      case 'exited':
        this.#exit = event;
        this.#limit = setTimeout(() => this.#settle(), OUTPUT_DRAIN_LIMIT_MS);
        this.#waitForQuiet();
        break;
      case 'closed':
        this.#settle();
        break;
      case 'failed':
        this.#settle(event.message);
        break;
    }
  }

  #waitForQuiet(): void {
    clearTimeout(this.#quiet);
    this.#quiet = setTimeout(() => this.#settle(), OUTPUT_QUIET_MS);
  }

  #settle(reason = 'its end was missed'): void {
    this.#stopTimers();
    this.#resolveEnded(
      this.#exit === undefined ? { kind: 'unknown', reason } : { kind: 'exited', exit: this.#exit },
    );
  }

  #stopTimers(): void {
    clearTimeout(this.#quiet);
    clearTimeout(this.#limit);
  }
}

async function toParams({ client }: NodeMachine, start: WorkerStart) {
  const { inheritEnv, timeoutMs, graceMs, keepAliveMs, tags } = start;
  const hasStartKey = await client.supports('processStartKey');
  return {
    processId: start.processId,
    argv: [...start.argv],
    cwd: start.cwd,
    env: { ...start.env },
    tty: false,
    pipeStdin: true,
    timeoutMs,
    graceMs,
    keepAliveMs,
    tags: { ...tags },
    ...(hasStartKey && { startKey: start.processId }),
    ...(inheritEnv !== 'none' && {
      envPolicy: {
        inherit: inheritEnv,
        ignoreDefaultExcludes: false,
        exclude: [],
        set: {},
        includeOnly: [],
      },
    }),
  };
}
