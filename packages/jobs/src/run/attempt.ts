import { basename, join } from 'node:path';
import { messageOf } from '../errors.js';
import type { ResultCheck } from '../results/schema.js';
import {
  closeWork,
  createToken,
  digestToken,
  prepareWork,
  type Report,
  readReport,
  removeWork,
  reportedFile,
  VARIABLES,
  workDirectory,
  workerFiles,
} from '../results/work-place.js';
import type { JobItem } from '../store/job-rows.js';
import type { JobSettings } from '../store/job-settings.js';
import type { Result, StartEntry } from '../store/journal-entry.js';
import { type AttemptEnd, describeFailure } from './attempt-end.js';
import type { MachineLink } from './machine-link.js';
import { StdoutResult } from './stdout-result.js';
import { judgeOutput, type WorkerKind } from './worker-kind.js';
import { WorkerLog } from './worker-log.js';
import {
  type OutputListener,
  SpawnError,
  type WorkerEnd,
  WorkerProcess,
  type WorkerStart,
} from './worker-process.js';

/** What all attempts of a job share. */
export interface AttemptContext {
  readonly settings: JobSettings;
  readonly kind: WorkerKind;
  readonly check: ResultCheck;
  /** Directory of the logs. */
  readonly logs: string;
}

/** What a worker that ends gets between SIGTERM and SIGKILL, in milliseconds. */
export const WORKER_GRACE_MS = 5_000;
/** How long workers and what is known of them outlive their runner, in milliseconds. */
const KEEP_ALIVE_MS = 24 * 3_600_000;

const CANCELLED: AttemptEnd = { status: 'failed', error: 'cancelled' };

/** What became of an attempt, and of its worker's wish to stop the job. */
export interface Finished {
  readonly end: AttemptEnd;
  readonly stop: boolean;
}

/** One worker for one item, from its files to its end. */
export class Attempt {
  readonly directory: string;
  readonly processId: string;
  readonly #token: string;
  readonly #stdout = new StdoutResult();
  readonly #watch;
  #worker: WorkerProcess | undefined;
  readonly #logPath: string;
  #log: WorkerLog;
  readonly #reported: Promise<Report>;
  #resolveReported: (report: Report) => void = () => {};
  #isCancelled = false;
  #isRemoved = false;

  constructor(
    private readonly context: AttemptContext,
    readonly item: JobItem,
    readonly attempt: number,
    readonly link: MachineLink,
  ) {
    const { id, secret } = context.settings;
    this.#token = createToken(secret, item.index, attempt);
    const digest = digestToken(this.#token, id, item.itemId);
    this.directory = workDirectory(link.root, item.index, attempt, digest);
    this.processId = `${id}:${item.index}:${attempt}`;
    this.#logPath = join(context.logs, `${item.index}-${attempt}.jsonl`);
    this.#log = new WorkerLog(this.#logPath);
    this.#watch = context.kind.watch?.();
    this.#reported = new Promise((resolve) => {
      this.#resolveReported = resolve;
    });
  }

  get index(): number {
    return this.item.index;
  }

  /** Name of its directory. */
  get name(): string {
    return basename(this.directory);
  }

  /** Looks whether the worker has reported. */
  look(): void {
    readReport(this.link.files, this.directory).then(
      (report) => report && this.#resolveReported(report),
      // What cannot be read now is looked for again at the end of the worker.
      () => {},
    );
  }

  /** Makes what the worker finds when it starts. */
  prepare(): Promise<void> {
    return prepareWork(this.link.files, this.directory, this.item);
  }

  /** Runs the worker to its end, or to its report. */
  async run(): Promise<Finished> {
    if (this.#isCancelled) return notStopped(CANCELLED);
    try {
      this.#worker = await WorkerProcess.start(this.link.machine, this.#toStart(), this.#listener());
    } catch (error) {
      if (error instanceof SpawnError)
        return notStopped({ status: 'failed', error: `failed to spawn worker: ${error.message}` });
      return unknown(messageOf(error));
    }
    return this.#follow(this.#worker);
  }

  /** Goes on with the worker of an earlier runner, or starts it where its start never arrived. */
  async adopt(start: StartEntry): Promise<Finished> {
    try {
      const early = await readReport(this.link.files, this.directory);
      const isMissing = await this.#attach(start);
      this.look();
      if (this.#worker !== undefined) return await this.#follow(this.#worker);
      if (early !== undefined) return this.#judgeReport(early);
      if (isMissing === 'forgotten' || !this.#neverArrived(start))
        return unknown('its machine does not know the worker any more');
      // A start that still arrives has the same key, and its worker the same files and token.
      await this.prepare();
    } catch (error) {
      return unknown(messageOf(error));
    }
    return this.run();
  }

  /** Follows a worker whose report an earlier runner has put on record. */
  async rejoin(start: StartEntry): Promise<void> {
    // What cannot be reached is as good as gone: its item is completed.
    await this.#attach(start).catch(() => {});
  }

  /** Ends the worker, because the job is cancelled. */
  async cancel(): Promise<void> {
    this.#isCancelled = true;
    await this.#worker?.terminate(WORKER_GRACE_MS);
  }

  /** Waits for the end of a worker that has reported: by itself, or else it is ended. */
  async linger(graceMs: number): Promise<WorkerEnd> {
    const worker = this.#worker;
    if (worker === undefined) return { kind: 'unknown', reason: 'it was gone when its report was found' };
    const timer = setTimeout(() => {
      // Without a connection nothing is known of its end, which then ends the wait as well.
      worker.terminate(WORKER_GRACE_MS).catch(() => {});
    }, graceMs);
    try {
      return await worker.ended;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Puts away what is not needed any more once the end is on record. */
  async dispose(): Promise<void> {
    await this.#worker?.release();
    await this.#log.close();
    if (this.#isRemoved) return;
    const { files } = this.link;
    await files.rm(reportedFile(this.directory), { recursive: false, force: true });
    await removeWork(files, this.directory);
  }

  /** Answers why there is no worker, where there is none. */
  async #attach({ session }: StartEntry): Promise<'unknown' | 'forgotten' | undefined> {
    this.#log = await WorkerLog.reopen(this.#logPath, (record) => {
      if (!('data' in record)) this.#missOutput();
      else if (record.stream === 'stdout') this.#takeStdout(Buffer.from(record.data, 'base64'));
    });
    const from = { processId: this.processId, sessionId: session, afterSeq: this.#log.lastSeq };
    const input = this.context.kind.input(this.item);
    const found = await WorkerProcess.adopt(this.link.machine, from, input, this.#listener());
    if (!(found instanceof WorkerProcess)) return found;
    this.#worker = found;
    return undefined;
  }

  /** Whether a worker that its machine does not know was never started, as opposed to ended and forgotten. */
  #neverArrived({ session }: StartEntry): boolean {
    return this.link.keepsEnds && session === this.link.machine.sessionId;
  }

  #toStart(): WorkerStart {
    const { settings, kind } = this.context;
    const { link, item } = this;
    const files = workerFiles(this.directory);
    return {
      processId: this.processId,
      argv: kind.argv(item, link),
      cwd: link.cwd,
      inheritEnv: settings.inheritEnv,
      env: {
        ...settings.env,
        [VARIABLES.jobId]: settings.id,
        [VARIABLES.itemId]: item.itemId,
        [VARIABLES.row]: files.row,
        [VARIABLES.result]: files.result,
        [VARIABLES.token]: this.#token,
      },
      timeoutMs: settings.timeoutMs,
      graceMs: WORKER_GRACE_MS,
      keepAliveMs: settings.timeoutMs + KEEP_ALIVE_MS,
      tags: { job: settings.id, item: item.itemId },
      input: kind.input(item),
    };
  }

  /** Whatever comes first: a report, or the end of the worker. */
  async #follow(worker: WorkerProcess): Promise<Finished> {
    try {
      if (this.#isCancelled) await worker.terminate(WORKER_GRACE_MS);
      const first = await Promise.race([this.#reported, worker.ended]);
      if ('reportedAt' in first) return this.#judgeReport(first);
      const { report, resultFile, isRemoved } = await closeWork(this.link.files, this.directory);
      this.#isRemoved = isRemoved;
      return report === undefined ? notStopped(this.#judgeEnd(first, resultFile)) : this.#judgeReport(report);
    } catch (error) {
      return unknown(messageOf(error));
    }
  }

  #judgeReport({ result, stop, reportedAt }: Report): Finished {
    const refusal = this.context.check(result);
    if (refusal !== undefined) return notStopped({ status: 'failed', error: refusal });
    return { end: { status: 'completed', result: result as Result, reportedAt }, stop };
  }

  #judgeEnd(end: WorkerEnd, resultFile: string | undefined): AttemptEnd {
    const { settings, check } = this.context;
    if (this.#isCancelled) return CANCELLED;
    const failure = describeFailure(end, settings.timeoutMs);
    if (this.#watch !== undefined) return this.#watch.judge(failure);
    if (failure !== undefined) return { status: 'failed', error: failure };
    return judgeOutput({ resultFile, stdout: this.#stdout.text }, check, settings.demandsResult);
  }

  #listener(): OutputListener {
    return {
      output: (event) => {
        this.#log.append(event);
        if (event.stream === 'stdout') this.#takeStdout(event.data);
      },
      gap: (toSeq) => {
        this.#log.gap(toSeq);
        this.#missOutput();
      },
    };
  }

  #takeStdout(data: Uint8Array): void {
    if (this.#watch === undefined) this.#stdout.take(data);
    else this.#watch.take(data);
  }

  #missOutput(): void {
    this.#stdout.giveUp();
    this.#watch?.gap();
  }
}

/** Nobody knows what became of the worker. */
function unknown(reason: string): Finished {
  return notStopped({ status: 'failed', error: `outcome unknown: ${reason}` });
}

function notStopped(end: AttemptEnd): Finished {
  return { end, stop: false };
}
