import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { JobError } from '../errors.js';
import { toCsv, toJsonl } from '../output/export-job.js';
import { writeAtomically } from '../output/write-atomically.js';
import type { LogRecord } from '../run/worker-log.js';
import { jobFiles } from './job-directory.js';
import { JobLock } from './job-lock.js';
import type { ItemCounts } from './job-state.js';
import type { JobStatus } from './journal-entry.js';
import { readLines } from './read-lines.js';
import { listJobIds, StoredJob } from './stored-job.js';

/** A job as it is on disk. */
export interface JobDescription {
  readonly id: string;
  readonly name: string;
  readonly directory: string;
  readonly status: JobStatus;
  /** Why it failed or was cancelled. */
  readonly error: string | undefined;
  /** Process id of its runner; absent where nobody runs it. */
  readonly runnerPid: number | undefined;
  readonly total: number;
  readonly counts: ItemCounts;
  readonly command: readonly string[];
  readonly outputPath: string;
  readonly createdAt: Date;
  readonly completedAt: Date | undefined;
}

/** Describes a job, also one that somebody runs. Rejects with `JobError`. */
export async function describeJob(directory: string): Promise<JobDescription> {
  await using job = await StoredJob.openForReading(directory);
  const { settings, state } = job;
  const holder = await JobLock.findHolder(directory);
  return {
    id: settings.id,
    name: settings.name,
    directory,
    status: state.status,
    error: state.error,
    runnerPid: holder?.pid,
    total: settings.totalItems,
    counts: state.counts,
    command: settings.command,
    outputPath: settings.output,
    createdAt: new Date(settings.createdAt),
    completedAt: state.completedAt === undefined ? undefined : new Date(state.completedAt),
  };
}

/** All jobs, newest first. What is no job, or cannot be read, is left out. */
export async function listJobs(root: string): Promise<JobDescription[]> {
  const jobs: JobDescription[] = [];
  for (const id of await listJobIds(root)) {
    try {
      jobs.push(await describeJob(join(root, id)));
    } catch (error) {
      if (!(error instanceof JobError)) throw error;
    }
  }
  return jobs.sort((a, b) => b.createdAt.getTime() - a.createdAt.getTime());
}

/** Which output of a worker. */
export interface LogOptions {
  readonly itemId: string;
  /** @default the newest */
  readonly attempt?: number;
}

/** What a worker wrote, as far as it is kept. Rejects with `JobError` where there is no such item. */
export async function* readLog(
  directory: string,
  { itemId, attempt }: LogOptions,
): AsyncGenerator<LogRecord> {
  const { index, attempts } = await findItem(directory, itemId);
  const number = attempt ?? attempts;
  if (number < 1 || number > attempts)
    throw new JobError(
      'not_found',
      `item ${itemId} has no attempt ${number}: it was started ${attempts} times`,
    );
  const path = join(jobFiles(directory).logs, `${index}-${number}.jsonl`);
  const file = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (file === undefined) return;
  try {
    for await (const { text, isWhole } of readLines(file)) if (isWhole) yield JSON.parse(text) as LogRecord;
  } finally {
    await file.close();
  }
}

async function findItem(directory: string, itemId: string) {
  await using job = await StoredJob.openForReading(directory);
  for await (const item of job.rows.all())
    if (item.itemId === itemId)
      return { index: item.index, attempts: job.state.items[item.index]?.attempts ?? 0 };
  throw new JobError('not_found', `job ${job.settings.id} has no item ${itemId}`);
}

/** Writes what is known of every row so far to a file, whole or not at all. */
export async function exportJob(directory: string, path: string, format: 'csv' | 'jsonl'): Promise<void> {
  await using job = await StoredJob.openForReading(directory);
  await writeAtomically(path, format === 'csv' ? toCsv(job) : toJsonl(job));
}

/** The same as text, in pieces. */
export async function* streamJob(directory: string, format: 'csv' | 'jsonl'): AsyncGenerator<string> {
  await using job = await StoredJob.openForReading(directory);
  yield* format === 'csv' ? toCsv(job) : toJsonl(job);
}
