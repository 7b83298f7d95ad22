import { access, rm, writeFile } from 'node:fs/promises';
import { createCodexKind } from '../codex/codex-kind.js';
import { JobError, messageOf } from '../errors.js';
import { endServer } from '../local-server/start-server.js';
import { exportCsv, exportJsonl } from '../output/export-job.js';
import { createResultCheck } from '../results/schema.js';
import { type CreateJobOptions, createJob } from '../store/create-job.js';
import { type JobFiles, jobFiles } from '../store/job-directory.js';
import { JobLock } from '../store/job-lock.js';
import type { JobSettings } from '../store/job-settings.js';
import type { ItemCounts } from '../store/job-state.js';
import type { JobStatus } from '../store/journal-entry.js';
import { StoredJob } from '../store/stored-job.js';
import { EventQueue } from './event-queue.js';
import { type ItemEvent, JobRunner, type RunningItem } from './job-runner.js';
import { watchLocally } from './local-files.js';
import type { MachineLink } from './machine-link.js';
import { closeMachines, openMachines } from './open-machines.js';
import { createCommandKind } from './worker-kind.js';

/** How a job is run, whatever it does. */
export interface RunnerOptions {
  /** Program and arguments of the job's own server; the directory of the job follows. @default that of this package */
  readonly serverCommand?: readonly string[];
  /** How long a machine may be out of reach before its workers count as lost, in milliseconds. @default 30000 */
  readonly lostAfterMs?: number;
  /** Cancels the job: its workers are ended. */
  readonly signal?: AbortSignal;
}

/** Options of `runJob`. */
export interface RunJobOptions extends CreateJobOptions, RunnerOptions {}

/** How far a job is. */
export interface JobProgress extends ItemCounts {
  readonly total: number;
  /** Time until it is done at the speed so far, in milliseconds; absent before an item has ended. */
  readonly etaMs: number | undefined;
  readonly runningItems: readonly RunningItem[];
}

/** What a job came to. */
export interface JobSummary {
  readonly jobId: string;
  readonly status: JobStatus;
  readonly outputPath: string;
  readonly total: number;
  readonly completed: number;
  readonly failed: number;
  /** Why the job failed or was cancelled. */
  readonly error: string | undefined;
  /** The first few items that failed. */
  readonly failures: readonly {
    readonly itemId: string;
    readonly sourceId: string | undefined;
    readonly error: string;
  }[];
}

/** Failed items that a summary tells of. */
const MAX_TOLD_FAILURES = 5;
const CANCELLED_BY_USER = 'cancelled by user';

/** Stores a job and runs it. Rejects with `JobError` where it cannot be started; then nothing is left of it. */
export async function runJob(options: RunJobOptions): Promise<JobRun> {
  const files = await createJob(options);
  try {
    return await JobRun.open(files, options);
  } catch (error) {
    await endServer(files);
    await rm(files.directory, { recursive: true, force: true });
    throw error;
  }
}

/** Goes on with a job whose runner has ended: adopts workers that run, and starts the rest. */
export function resumeJob(directory: string, options: RunnerOptions = {}): Promise<JobRun> {
  return JobRun.open(jobFiles(directory), options);
}

/** A job that runs. Iterating over it gives what happens to its items from then on. */
export class JobRun implements AsyncIterable<ItemEvent> {
  /** Resolves with what the job came to, once that is on disk. Never rejects. */
  readonly result: Promise<JobSummary>;
  readonly #events = new EventQueue<ItemEvent>();
  readonly #runner: JobRunner;
  readonly #startedAt = Date.now();
  #ended = 0;

  /** Takes the job. Rejects with `JobError`. */
  static async open(files: JobFiles, options: RunnerOptions): Promise<JobRun> {
    const lock = await JobLock.acquire(files.directory);
    let job: StoredJob | undefined;
    try {
      job = await StoredJob.open(files.directory);
      const { status } = job.state;
      if (status === 'completed' || status === 'cancelled') {
        // Its runner may have been killed on the last step.
        await putAway(job);
        throw new JobError('state', `job ${job.settings.id} is ${status}; there is nothing to resume`);
      }
      const check = await createResultCheck(job.settings.schema);
      const links = await openMachines(job, options);
      return new JobRun(job, lock, links, check, options.signal);
    } catch (error) {
      await job?.[Symbol.asyncDispose]();
      await lock[Symbol.asyncDispose]();
      throw error;
    }
  }

  private constructor(
    private readonly job: StoredJob,
    private readonly lock: JobLock,
    private readonly links: readonly MachineLink[],
    check: Awaited<ReturnType<typeof createResultCheck>>,
    signal: AbortSignal | undefined,
  ) {
    const { settings, files } = job;
    const kind =
      settings.codex === undefined ? createCommandKind(settings) : createCodexKind(settings, check);
    this.#runner = new JobRunner({
      job,
      links,
      context: { settings, kind, check, logs: files.logs },
      onEvent: (event) => {
        if (event.type !== 'started' && event.type !== 'adopted') this.#ended++;
        this.#events.push(event);
      },
      whenReady: () => this.#events.whenReady(),
    });
    this.result = this.#run(signal);
  }

  get id(): string {
    return this.job.settings.id;
  }

  get directory(): string {
    return this.job.files.directory;
  }

  get settings(): JobSettings {
    return this.job.settings;
  }

  /** How far it is now. */
  progress(): JobProgress {
    const { counts } = this.job.state;
    const left = counts.pending + counts.running;
    const etaMs = this.#ended === 0 ? undefined : ((Date.now() - this.#startedAt) / this.#ended) * left;
    return { total: this.job.settings.totalItems, ...counts, etaMs, runningItems: this.#runner.runningItems };
  }

  /**
   * What happens to the items from now on. A reader that does not keep up holds the job back: no more workers are started
   * while 1024 events wait for it.
   */
  [Symbol.asyncIterator](): AsyncIterableIterator<ItemEvent> {
    return this.#events.read();
  }

  /** Starts no more workers and ends those that run. Resolves when they are told; `result` tells the rest. */
  cancel(reason = CANCELLED_BY_USER): Promise<void> {
    return this.#runner.cancel(reason, { endWorkers: true });
  }

  async #run(signal: AbortSignal | undefined): Promise<JobSummary> {
    // Whoever has just been given this object may begin to iterate before anything happens.
    await new Promise((resolve) => setImmediate(resolve));
    const stop = this.#listen(signal);
    let end: { readonly status: JobStatus; readonly error?: string };
    try {
      await this.job.change({ type: 'job', status: 'running', at: Date.now() });
      end = await this.#runner.run();
      end = (await this.#export()) ?? end;
      await this.job.change({ type: 'job', ...end, at: Date.now() });
    } catch (error) {
      end = { status: 'failed', error: `job runner failed: ${messageOf(error)}` };
      // The journal may be what failed.
      await this.job.change({ type: 'job', ...end, at: Date.now() }).catch(() => {});
    } finally {
      stop();
    }
    const summary = await this.#summarize(end);
    await this.#close();
    this.#events.end();
    return summary;
  }

  /** Listens for those who want the job to be cancelled. */
  #listen(signal: AbortSignal | undefined): () => void {
    const { files } = this.job;
    const cancel = () => void this.cancel();
    const look = (name = CANCEL_NAME) => {
      if (name === CANCEL_NAME) access(files.cancel).then(cancel, () => {});
    };
    const stop = watchLocally(files.directory, look);
    look();
    if (signal?.aborted === true) cancel();
    signal?.addEventListener('abort', cancel);
    return () => {
      stop();
      signal?.removeEventListener('abort', cancel);
    };
  }

  /** Writes the output. Answers what the job has come to where that fails. */
  async #export(): Promise<{ readonly status: 'failed'; readonly error: string } | undefined> {
    const { output, outputJsonl } = this.job.settings;
    try {
      await exportCsv(this.job, output);
      if (outputJsonl !== undefined) await exportJsonl(this.job, outputJsonl);
      return undefined;
    } catch (error) {
      return { status: 'failed', error: `auto-export failed: ${messageOf(error)}` };
    }
  }

  async #summarize({
    status,
    error,
  }: {
    readonly status: JobStatus;
    readonly error?: string;
  }): Promise<JobSummary> {
    const { settings, state, rows } = this.job;
    const failed: number[] = [];
    for (const [index, item] of state.items.entries())
      if (item.status === 'failed' && failed.length < MAX_TOLD_FAILURES) failed.push(index);
    return {
      jobId: settings.id,
      status,
      outputPath: settings.output,
      total: settings.totalItems,
      completed: state.counts.completed,
      failed: state.counts.failed,
      error,
      failures: await Promise.all(
        failed.map(async (index) => {
          const { itemId, sourceId } = await rows.read(index);
          return { itemId, sourceId, error: state.items[index]?.error ?? '' };
        }),
      ),
    };
  }

  /** Lets go of everything. Workers that still run, because the runner failed, are left for who resumes the job. */
  async #close(): Promise<void> {
    const { state, settings } = this.job;
    const isDone = state.counts.running === 0;
    if (isDone && settings.machines.length > 0)
      await Promise.allSettled(
        this.links.map(({ files: place, root }) => place.rm(root, { recursive: true, force: true })),
      );
    await closeMachines(this.links);
    if (isDone) await putAway(this.job);
    await this.job[Symbol.asyncDispose]();
    await this.lock[Symbol.asyncDispose]();
  }
}

const CANCEL_NAME = 'cancel';

/** Ends the server of a job that is over, and removes what its workers worked with. */
async function putAway({ files }: StoredJob): Promise<void> {
  await endServer(files);
  await rm(files.work, { recursive: true, force: true });
}

/**
 * Cancels a job, whoever runs it. One that nobody runs is taken for as long as it takes to end its workers. Rejects with
 * `JobError` where the job has ended.
 */
export async function cancelJob(directory: string, options: RunnerOptions = {}): Promise<void> {
  const files = jobFiles(directory);
  await access(files.settings).catch(() => {
    throw new JobError('not_found', `there is no job in ${directory}`);
  });
  await writeFile(files.cancel, '');
  try {
    const run = await resumeJob(directory, options);
    await run.result;
  } catch (error) {
    // Its runner has been told by the file.
    if (!(error instanceof JobError) || error.code !== 'locked') throw error;
  }
}
