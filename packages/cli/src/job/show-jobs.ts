import { exportJob, type JobDescription, listJobs, readLog, streamJob } from '@exec-server/jobs';
import { toPrintable } from '../client/printable.js';
import { type Column, writeTable } from '../client/table.js';
import type { CommandIo } from '../command-io.js';
import type { JobExportFlags, JobLogsFlags, JobPlaceFlags } from '../commands/job.js';
import { chooseJob, explaining, rootOf } from './find-job.js';

const COLUMNS: readonly Column<JobDescription>[] = [
  { title: 'JOB', value: ({ id }) => id.slice(0, 8) },
  { title: 'STATUS', value: statusOf },
  {
    title: 'DONE',
    align: 'right',
    value: ({ counts, total }) => `${counts.completed + counts.failed}/${total}`,
  },
  { title: 'FAILED', align: 'right', value: ({ counts }) => String(counts.failed) },
  { title: 'CREATED', value: ({ createdAt }) => createdAt.toISOString() },
  { title: 'COMMAND', value: ({ command }) => command.join(' ') },
];

type ShowFlags = JobPlaceFlags & { readonly json?: boolean };

/** Lists jobs. */
export function showJobs(flags: ShowFlags, io: CommandIo): Promise<void> {
  return explaining(async () => {
    const jobs = await listJobs(rootOf(flags, io));
    if (flags.json === true) io.stdout.write(`${JSON.stringify(jobs.map(toJson))}\n`);
    else writeTable(io, COLUMNS, jobs);
  });
}

/** Tells how far a job is. */
export function showJob(id: string | undefined, flags: ShowFlags, io: CommandIo): Promise<void> {
  return explaining(async () => {
    const job = await chooseJob(id, flags, io);
    if (flags.json === true) {
      io.stdout.write(`${JSON.stringify(toJson(job))}\n`);
      return;
    }
    const { pending, running, completed, failed } = job.counts;
    const lines = [
      ['job', job.id],
      ['status', `${statusOf(job)}${job.error === undefined ? '' : `: ${job.error}`}`],
      [
        'items',
        `${job.total}: ${pending} pending, ${running} running, ${completed} completed, ${failed} failed`,
      ],
      ['command', job.command.join(' ')],
      ['results', job.outputPath],
      ['directory', job.directory],
    ];
    for (const [name = '', value = ''] of lines) io.stdout.write(`${name.padEnd(11)}${toPrintable(value)}\n`);
  });
}

/** Prints what the worker of an item wrote: each stream to its own. */
export function printLog(
  item: string,
  { job, attempt, ...flags }: JobLogsFlags,
  io: CommandIo,
): Promise<void> {
  return explaining(async () => {
    const { directory } = await chooseJob(job, flags, io);
    for await (const record of readLog(directory, {
      itemId: item,
      ...(attempt !== undefined && { attempt }),
    })) {
      if ('data' in record) {
        const stream = record.stream === 'stderr' ? io.stderr : io.stdout;
        stream.write(Buffer.from(record.data, 'base64'));
      } else {
        const what = record.droppedBytes > 0 ? `${record.droppedBytes} bytes` : 'some output';
        io.stderr.write(`\n[${what} of output not kept]\n`);
      }
    }
  });
}

/** Prints or writes what is known of every row. */
export function exportResults(
  id: string | undefined,
  { output, jsonl, ...flags }: JobExportFlags,
  io: CommandIo,
): Promise<void> {
  return explaining(async () => {
    const { directory } = await chooseJob(id, flags, io);
    const format = jsonl === true ? 'jsonl' : 'csv';
    if (output !== undefined) return exportJob(directory, output, format);
    for await (const text of streamJob(directory, format)) {
      if (io.stdout.write(text)) continue;
      await new Promise((resolve) => io.stdout.once('drain', resolve));
    }
  });
}

/** A job that should run and has no runner waits to be resumed. */
function statusOf({ status, runnerPid }: JobDescription): string {
  return status === 'running' && runnerPid === undefined ? 'interrupted' : status;
}

function toJson(job: JobDescription) {
  const { id, total, counts, error, runnerPid, createdAt, completedAt } = job;
  return {
    job_id: id,
    name: job.name,
    status: statusOf(job),
    job_error: error ?? null,
    runner_pid: runnerPid ?? null,
    total_items: total,
    pending_items: counts.pending,
    running_items: counts.running,
    completed_items: counts.completed,
    failed_items: counts.failed,
    command: job.command,
    output_csv_path: job.outputPath,
    directory: job.directory,
    created_at: createdAt.toISOString(),
    completed_at: completedAt?.toISOString() ?? null,
  };
}
