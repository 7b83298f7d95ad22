import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'csv-parse/sync';
import { onTestFinished } from 'vitest';
import { endServer } from '../../src/local-server/start-server.js';
import { type JobRun, type JobSummary, type RunJobOptions, runJob } from '../../src/run/job-run.js';
import type { ItemEvent } from '../../src/run/job-runner.js';
import { jobFiles } from '../../src/store/job-directory.js';
import { makeDirectory } from '../temp-directory.js';

/** The server of a job runs in a process of its own, which takes the build. */
export const SERVER_COMMAND = [
  process.execPath,
  fileURLToPath(new URL('../../dist/local-server/main.js', import.meta.url)),
];

/** What reports from inside of a worker: the request is its argument. */
export const REPORT_COMMAND = [
  process.execPath,
  fileURLToPath(new URL('../fixtures/report.mjs', import.meta.url)),
];

export const sh = (script: string, ...args: string[]) => ['/bin/sh', '-c', script, 'sh', ...args];

/** Starts a job whose server ends with the test. */
export async function startJob(options: RunJobOptions): Promise<JobRun> {
  const root = options.root ?? (await makeDirectory());
  const run = await runJob({ serverCommand: SERVER_COMMAND, ...options, root });
  onTestFinished(() => endServer(jobFiles(run.directory)));
  return run;
}

export interface FinishedJob {
  readonly run: JobRun;
  readonly events: readonly ItemEvent[];
  readonly summary: JobSummary;
  /** The output, a row for each item. */
  readonly output: readonly Readonly<Record<string, string>>[];
}

export async function finish(run: JobRun): Promise<FinishedJob> {
  const events: ItemEvent[] = [];
  for await (const event of run) events.push(event);
  const summary = await run.result;
  return { run, events, summary, output: await readOutput(summary.outputPath) };
}

export async function runToEnd(options: RunJobOptions): Promise<FinishedJob> {
  return finish(await startJob(options));
}

export async function readOutput(path: string): Promise<readonly Readonly<Record<string, string>>[]> {
  return parse(await readFile(path, 'utf8'), { columns: true }) as Record<string, string>[];
}

/** The numbers of rows as rows. */
export const numbers = (count: number) => Array.from({ length: count }, (_, index) => ({ n: String(index) }));

/** The output of one column. */
export const column = (output: FinishedJob['output'], name: string) => output.map((row) => row[name]);

export const inDirectory = (run: JobRun, name: string) => join(run.directory, name);
