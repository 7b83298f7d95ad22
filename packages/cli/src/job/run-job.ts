import { readFile } from 'node:fs/promises';
import { constants } from 'node:os';
import { ExecServerError, findContext } from '@exec-server/client';
import {
  cancelJob,
  type JobRun,
  type JobSummary,
  type MachineSettings,
  resumeJob,
  runJob,
} from '@exec-server/jobs';
import { CommandError } from '../command-error.js';
import type { CommandIo } from '../command-io.js';
import type { JobPlaceFlags, JobRunFlags } from '../commands/job.js';
import { ExitCode, SIGNAL_EXIT_BASE } from '../exit-codes.js';
import { OWN_PROGRAM } from '../own-program.js';
import { UsageError } from '../usage-error.js';
import { chooseJob, explaining, rootOf } from './find-job.js';
import { showProgress } from './progress-display.js';
import { showSummary } from './summary.js';

const RUNNER = { serverCommand: [...OWN_PROGRAM, 'job', 'serve'] };

/** Runs a new job to its end. Resolves with the exit code. */
export function runNewJob(command: readonly string[], flags: JobRunFlags, io: CommandIo): Promise<number> {
  return explaining(async () => {
    const { codex, csv, jsonl, idColumn, unbounded, timeout, retry, cwd, inheritEnv } = flags;
    if (codex === undefined && command.length === 0)
      throw new UsageError('a job needs a command: give it behind the options', true);
    const run = await runJob({
      ...RUNNER,
      root: rootOf(flags, io),
      ...(csv !== undefined && { csv }),
      ...(jsonl !== undefined && { jsonl }),
      ...(codex === undefined
        ? { command }
        : { codex: { instruction: codex, ...(command.length > 0 && { command }) } }),
      ...(idColumn !== undefined && { idColumn }),
      ...(flags.concurrency !== undefined && { concurrency: flags.concurrency }),
      ...(unbounded === true && { unbounded }),
      ...(timeout !== undefined && { timeoutMs: timeout }),
      ...(retry !== undefined && { retries: retry }),
      ...(flags.output !== undefined && { output: flags.output }),
      ...(flags.outputJsonl !== undefined && { outputJsonl: flags.outputJsonl }),
      ...(flags.schema !== undefined && { schema: await readSchema(flags.schema) }),
      ...(flags.report === true && { demandsResult: true }),
      ...(cwd !== undefined && { cwd }),
      ...(inheritEnv !== undefined && { inheritEnv }),
      env: toVariables(flags.env ?? [], io.env),
      machines: flags.on === undefined ? toMachines(flags, io.env) : await findMachines(flags, io.env),
    });
    return followJob(run, flags.json === true, io);
  });
}

/** Goes on with a job to its end. Resolves with the exit code. */
export function resumeOldJob(
  id: string | undefined,
  flags: JobPlaceFlags & { readonly json?: boolean },
  io: CommandIo,
): Promise<number> {
  return explaining(async () => {
    const { directory } = await chooseJob(id, flags, io);
    return followJob(await resumeJob(directory, RUNNER), flags.json === true, io);
  });
}

export function cancelOldJob(id: string | undefined, flags: JobPlaceFlags): Promise<void> {
  return explaining(async () => {
    const { directory } = await chooseJob(id, flags, { env: process.env });
    await cancelJob(directory, RUNNER);
  });
}

/**
 * Shows a job until it ends. An interrupt cancels it; a second one leaves at once. Other signals leave the workers running,
 * for who resumes the job.
 */
async function followJob(run: JobRun, json: boolean, io: CommandIo): Promise<number> {
  const display = showProgress(run, io, json);
  let isCancelling = false;
  const stopListening = io.onEndSignal((signal) => {
    if (signal !== 'SIGINT' || isCancelling) {
      io.stderr.write(`\nthe job goes on where it is: exec-server job resume ${run.id}\n`);
      io.exit(SIGNAL_EXIT_BASE + constants.signals[signal]);
      return;
    }
    isCancelling = true;
    void run.cancel();
  });
  try {
    display.update();
    for await (const _ of run) display.update();
    const summary = await run.result;
    display.stop();
    showSummary(summary, json || io.stderr.isTTY !== true, io);
    return exitCodeOf(summary);
  } finally {
    stopListening();
  }
}

function exitCodeOf({ status, failed }: JobSummary): number {
  if (status === 'cancelled') return SIGNAL_EXIT_BASE + constants.signals.SIGINT;
  return status === 'completed' && failed === 0 ? ExitCode.success : ExitCode.failure;
}

async function readSchema(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as unknown;
  } catch (error) {
    throw new CommandError(`cannot read the schema ${file}: ${(error as Error).message}`, { cause: error });
  }
}

/** The machines that contexts name. */
async function findMachines(
  { on = '', connect, tokenFile, tlsCa, slots }: JobRunFlags,
  env: CommandIo['env'],
): Promise<MachineSettings[]> {
  if ((connect ?? tokenFile ?? tlsCa) !== undefined)
    throw new UsageError(
      "the argument '--on <NAMES>' cannot be used with '--connect <URLS>', '--token-file <FILE>' or '--tls-ca <FILE>'",
      true,
    );
  const names = on.split(',').filter((name) => name !== '');
  if (names.length === 0 || new Set(names).size < names.length)
    throw new UsageError(`invalid value '${on}' for '--on <NAMES>': expected names, each once`);
  try {
    return await Promise.all(
      names.map(async (name) => ({
        name,
        ...(await findContext(name, env)),
        ...(slots !== undefined && { slots }),
      })),
    );
  } catch (error) {
    throw error instanceof ExecServerError ? new CommandError(error.message, { cause: error }) : error;
  }
}

/** `KEY=VALUE` sets a variable, `KEY` passes on the one from here. */
function toVariables(given: readonly string[], env: CommandIo['env']): Record<string, string> {
  const variables: Record<string, string> = {};
  for (const text of given) {
    const separator = text.indexOf('=');
    const name = separator === -1 ? text : text.slice(0, separator);
    if (name === '')
      throw new UsageError(`invalid value '${text}' for '-e, --env <KEY[=VALUE]>': expected a name`);
    const value = separator === -1 ? env[name] : text.slice(separator + 1);
    if (value !== undefined) variables[name] = value;
  }
  return variables;
}

function toMachines(
  { connect, tokenFile, tlsCa, slots }: JobRunFlags,
  env: CommandIo['env'],
): MachineSettings[] {
  const urls = (connect ?? env.EXEC_SERVER_URL ?? '').split(',').filter((url) => url !== '');
  if (urls.length === 0 && (tokenFile ?? tlsCa ?? slots) !== undefined)
    throw new UsageError(
      "the arguments '--token-file <FILE>', '--tls-ca <FILE>' and '--slots <N>' need servers: give '--connect <URLS>' or set EXEC_SERVER_URL",
    );
  if (new Set(urls).size < urls.length)
    throw new UsageError(`invalid value '${urls.join(',')}' for '--connect <URLS>': a server is named twice`);
  return urls.map((url) => ({
    name: url,
    url,
    ...(tokenFile !== undefined && { tokenFile }),
    ...(tlsCa !== undefined && { tlsCaFile: tlsCa }),
    ...(slots !== undefined && { slots }),
  }));
}
