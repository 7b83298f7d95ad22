import type { Command } from 'commander';
import { choice, positiveCount, count as wholeNumber } from '../option-values.js';
import { addExample, type CommandContext } from './command-context.js';
import { addJsonOption } from './connection-options.js';
import { collect, DURATION_HELP, parseDuration } from './flag-values.js';

const CONCURRENCY = '--concurrency <N>';
const RETRY = '--retry <N>';
const SLOTS = '--slots <N>';
const ATTEMPT = '--attempt <N>';
const TIMEOUT = '--timeout <DURATION>';
const INHERIT_ENV = '--inherit-env <WHICH>';
const INHERITANCES = ['core', 'all', 'none'] as const;

/** Flags that every part of `job` has. */
export interface JobPlaceFlags {
  /** Directory that jobs are kept in. */
  readonly jobs?: string;
}

export interface JobRunFlags extends JobPlaceFlags {
  readonly csv?: string;
  readonly jsonl?: string;
  readonly idColumn?: string;
  readonly concurrency?: number;
  readonly unbounded?: boolean;
  readonly timeout?: number;
  readonly output?: string;
  readonly outputJsonl?: string;
  readonly schema?: string;
  readonly report?: boolean;
  readonly retry?: number;
  readonly codex?: string;
  readonly connect?: string;
  /** Names of contexts. */
  readonly on?: string;
  readonly tokenFile?: string;
  readonly tlsCa?: string;
  readonly slots?: number;
  readonly cwd?: string;
  readonly env?: readonly string[];
  readonly inheritEnv?: (typeof INHERITANCES)[number];
  readonly json?: boolean;
}

export interface JobLogsFlags extends JobPlaceFlags {
  readonly job?: string;
  readonly attempt?: number;
}

export interface JobExportFlags extends JobPlaceFlags {
  readonly output?: string;
  readonly jsonl?: boolean;
}

export interface JobReportFlags {
  readonly file?: string;
  readonly stop?: boolean;
}

/** Adds `job`: one command for each row of a table. */
export function addJobCommand(context: CommandContext): void {
  const job = context.program
    .command('job')
    .description(
      'run one command for each row of a table; what became of every row is kept, also over a kill',
    )
    .usage('COMMAND [OPTIONS]')
    .enablePositionalOptions()
    .helpCommand('help [command]', 'print help of a command');
  addRun(job, context);
  addInspection(job, context);
  addControl(job, context);
  addReport(job, context);
  addServe(job);
}

function addRun(job: Command, { io, setExitCode }: CommandContext): void {
  const run = addPlace(job.command('run'))
    .description('run a command for each row; {column} in an argument stands for the value of the row')
    .usage('--csv FILE [OPTIONS] [--] COMMAND [ARGUMENT...]')
    .argument('[command...]', 'program and arguments; no shell is involved')
    .passThroughOptions()
    .configureHelp({ visibleArguments: () => [] })
    .option('--csv <FILE>', 'rows: CSV with a header')
    .option('--jsonl <FILE>', 'rows: a JSON object on each line')
    .option('--id-column <COLUMN>', 'column that items are named by [default: row-1, row-2, ...]')
    .option(CONCURRENCY, 'workers that run at once, at most 64 [default: 16]', (text: string) =>
      positiveCount.fromText(text, CONCURRENCY),
    )
    .option('--unbounded', 'allow more than 64 workers at once')
    .option(TIMEOUT, `how long a worker may run (${DURATION_HELP}) [default: 1800s]`, parseDuration(TIMEOUT))
    .option(RETRY, 'attempts beyond the first for an item that fails [default: 0]', (text: string) =>
      wholeNumber.fromText(text, RETRY),
    )
    .option('--output <FILE>', 'results as CSV [default: <input>.agent-job-<id>.csv beside the input]')
    .option('--output-jsonl <FILE>', 'results as JSON lines, too')
    .option('--schema <FILE>', 'JSON Schema that results must match; an item then needs a result')
    .option('--report', 'an item needs a result, whatever its shape')
    .option(
      '--codex <INSTRUCTION>',
      'the worker is `codex exec` with this instruction; COMMAND is the Codex CLI',
    )
    .option(
      '--connect <URLS>',
      'servers to run on, with commas between them [env: EXEC_SERVER_URL] [default: one of its own]',
    )
    .option('--on <NAMES>', 'servers by their names, with commas between them, see `context`')
    .option('--token-file <FILE>', "file with the servers' token [env: EXEC_SERVER_TOKEN, the token itself]")
    .option('--tls-ca <FILE>', 'certificate authorities to trust for wss, PEM')
    .option(SLOTS, 'workers that run at once on each server [default: --concurrency]', (text: string) =>
      positiveCount.fromText(text, SLOTS),
    )
    .option('-w, --cwd <DIR>', "working directory of workers [default: this one; elsewhere the server's]")
    .option(
      '-e, --env <KEY[=VALUE]>',
      'set a variable, or pass on the one of that name from here (repeatable)',
      collect,
    )
    .option(
      INHERIT_ENV,
      "which of the server's variables workers get: core, all or none [default: core]",
      (value: string) => choice(INHERITANCES).fromText(value, INHERIT_ENV),
    )
    .action(async (command: string[], flags: JobRunFlags) => {
      const { runNewJob } = await import('../job/run-job.js');
      setExitCode(await runNewJob(command, flags, io));
    });
  addJsonOption(run);
  run.addHelpText('after', WORKERS);
  addExample(
    run,
    'exec-server job run --csv cities.csv -- sh -c \'curl -sf "wttr.in/$1?format=j1"\' sh {city}',
  );
}

function addInspection(job: Command, { io }: CommandContext): void {
  const list = addPlace(job.command('list'))
    .description('list jobs, newest first')
    .usage('[OPTIONS]')
    .action(async (flags: JobPlaceFlags & { readonly json?: boolean }) => {
      const { showJobs } = await import('../job/show-jobs.js');
      await showJobs(flags, io);
    });
  addJsonOption(list);
  const status = addPlace(job.command('status'))
    .description('tell how far a job is')
    .usage('[OPTIONS] [JOB]')
    .argument('[job]', 'id of the job, or how it begins [default: the newest]')
    .action(async (id: string | undefined, flags: JobPlaceFlags & { readonly json?: boolean }) => {
      const { showJob } = await import('../job/show-jobs.js');
      await showJob(id, flags, io);
    });
  addJsonOption(status);
  addPlace(job.command('logs'))
    .description('print what the worker of an item wrote')
    .usage('[OPTIONS] ITEM')
    .argument('<item>', 'id of the item')
    .option('--job <JOB>', 'id of the job, or how it begins [default: the newest]')
    .option(ATTEMPT, 'which attempt [default: the newest]', (text: string) =>
      positiveCount.fromText(text, ATTEMPT),
    )
    .action(async (item: string, flags: JobLogsFlags) => {
      const { printLog } = await import('../job/show-jobs.js');
      await printLog(item, flags, io);
    });
  addPlace(job.command('export'))
    .description('print what is known of every row, as CSV')
    .usage('[OPTIONS] [JOB]')
    .argument('[job]', 'id of the job, or how it begins [default: the newest]')
    .option('--output <FILE>', 'write it to a file')
    .option('--jsonl', 'as JSON lines')
    .action(async (id: string | undefined, flags: JobExportFlags) => {
      const { exportResults } = await import('../job/show-jobs.js');
      await exportResults(id, flags, io);
    });
}

function addControl(job: Command, { io, setExitCode }: CommandContext): void {
  const resume = addPlace(job.command('resume'))
    .description('go on with a job whose runner has ended; workers that still run are adopted')
    .usage('[OPTIONS] [JOB]')
    .argument('[job]', 'id of the job, or how it begins [default: the newest]')
    .action(async (id: string | undefined, flags: JobPlaceFlags & { readonly json?: boolean }) => {
      const { resumeOldJob } = await import('../job/run-job.js');
      setExitCode(await resumeOldJob(id, flags, io));
    });
  addJsonOption(resume);
  addPlace(job.command('cancel'))
    .description('start no more workers of a job and end those that run')
    .usage('[OPTIONS] [JOB]')
    .argument('[job]', 'id of the job, or how it begins [default: the newest]')
    .action(async (id: string | undefined, flags: JobPlaceFlags) => {
      const { cancelOldJob } = await import('../job/run-job.js');
      await cancelOldJob(id, flags);
    });
}

function addReport(job: Command, { io, setExitCode }: CommandContext): void {
  const report = job
    .command('report')
    .description('for workers: report the result of the item, which completes it')
    .usage('[OPTIONS] [RESULT]')
    .argument('[result]', 'a JSON object [default: what stdin has]')
    .option('--file <FILE>', 'read the result from a file')
    .option('--stop', 'start no more items')
    .action(async (result: string | undefined, flags: JobReportFlags) => {
      const { report: reportResult } = await import('../job/report-result.js');
      setExitCode(await reportResult(result, flags, io));
    });
  addExample(report, `exec-server job report '{"size": 12}'`);
}

/** The job's own server, which nobody but a runner starts. */
function addServe(job: Command): void {
  job
    .command('serve', { hidden: true })
    .argument('<directory>')
    .action(async (directory: string) => {
      const { serveJob } = await import('@exec-server/jobs');
      await serveJob(directory, () => process.stdout.write('ready\n'));
    });
}

function addPlace(command: Command): Command {
  return command.option(
    '--jobs <DIR>',
    'directory that jobs are kept in [env: EXEC_SERVER_JOBS] [default: ~/.local/state/exec-server/jobs]',
  );
}

const WORKERS = `
A worker finds its row on stdin and in the file EXEC_SERVER_ROW. Its result, a JSON object, is what it reports by
\`exec-server job report\`, or writes to the file EXEC_SERVER_RESULT, or prints.

Exit codes:
  0    every item is completed
  1    an item has failed, or the job has
  130  the job was cancelled`;
