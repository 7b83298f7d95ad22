import { randomBytes, randomUUID } from 'node:crypto';
import { mkdir, open, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, extname, join, resolve } from 'node:path';
import { JobError } from '../errors.js';
import { checkInputColumns } from '../output/output-columns.js';
import { writeAtomically } from '../output/write-atomically.js';
import { createResultCheck } from '../results/schema.js';
import { readCsv } from '../rows/read-csv.js';
import { readIterable, readJsonl } from '../rows/read-jsonl.js';
import type { Row, RowSource } from '../rows/row.js';
import { findJobsRoot, type JobFiles, jobFiles } from './job-directory.js';
import { storeRows } from './job-rows.js';
import type { JobSettings, MachineSettings } from './job-settings.js';

/** Workers that run at once where nobody says otherwise. */
const DEFAULT_CONCURRENCY = 16;
/** Most workers at once, unless that is lifted. */
const MAX_CONCURRENCY = 64;
/** How long a worker may run where nobody says otherwise, in milliseconds. */
const DEFAULT_TIMEOUT_MS = 1_800_000;
const LEAST_TIMEOUT_MS = 1_000;

/** What to do with which rows. Exactly one of `rows`, `csv` and `jsonl` is given, and one of `command` and `codex`. */
export interface CreateJobOptions {
  readonly rows?: Iterable<Row> | AsyncIterable<Row>;
  /** A CSV file with a header row. */
  readonly csv?: string;
  /** A file with a JSON object on each line. */
  readonly jsonl?: string;
  /** Program and arguments; `{column}` in any of them stands for the value of the row. */
  readonly command?: readonly string[];
  /** The worker is the Codex CLI, with this instruction, in which `{column}` stands for the value of the row. */
  readonly codex?: { readonly instruction: string; readonly command?: readonly string[] };
  /** Column that items are named by. @default none, they are `row-1`, `row-2`, … */
  readonly idColumn?: string;
  /** Workers that run at once, at most 64. @default 16 */
  readonly concurrency?: number;
  /** Lifts that limit. @default false */
  readonly unbounded?: boolean;
  /** How long a worker may run, in milliseconds, at least 1000. @default 1800000 */
  readonly timeoutMs?: number;
  /** Attempts beyond the first for an item that fails. @default 0 */
  readonly retries?: number;
  /** The file that the results go to. @default beside the input; for `rows` in the directory of the job */
  readonly output?: string;
  /** A file that they go to as JSON lines, too. @default none */
  readonly outputJsonl?: string;
  /** JSON Schema that results must match. An item then is completed only with a result. @default any object */
  readonly schema?: unknown;
  /** Whether an item is completed only with a result. @default whether there is a schema */
  readonly demandsResult?: boolean;
  /** Working directory of workers. @default this process's own; on other machines their server's */
  readonly cwd?: string;
  /** Variables of workers. @default none */
  readonly env?: Readonly<Record<string, string>>;
  /** Which of the server's variables they get. @default 'core' */
  readonly inheritEnv?: JobSettings['inheritEnv'];
  /** Machines to run on. @default a server of the job's own, on this machine */
  readonly machines?: readonly MachineSettings[];
  /** Directory that jobs are kept in. @default `EXEC_SERVER_JOBS`, or `exec-server/jobs` among the user's state files */
  readonly root?: string;
}

/** Reads the rows and stores the job. Nothing is started. Rejects with `JobError`, and leaves nothing behind then. */
export async function createJob(options: CreateJobOptions): Promise<JobFiles> {
  await checkOptions(options);
  const source = openSource(options);
  const id = randomUUID();
  const files = jobFiles(join(resolve(options.root ?? findJobsRoot()), id));
  await mkdir(files.directory, { recursive: true, mode: 0o700 });
  try {
    const totalItems = await storeRows(files.rows, source, options.idColumn);
    checkInputColumns(source.columns);
    const settings = toSettings(options, {
      id,
      directory: files.directory,
      columns: source.columns,
      totalItems,
    });
    await mkdir(files.work, { mode: 0o700 });
    await mkdir(files.logs, { mode: 0o700 });
    await writeFile(files.journal, '', { mode: 0o600 });
    await writeAtomically(files.settings, [JSON.stringify(settings, undefined, 2)], 0o600);
    await syncDirectory(files.directory);
    return files;
  } catch (error) {
    await rm(files.directory, { recursive: true, force: true });
    throw error;
  }
}

async function checkOptions(options: CreateJobOptions): Promise<void> {
  const { rows, csv, jsonl, command, codex, concurrency, unbounded, timeoutMs, retries, schema } = options;
  if ([rows, csv, jsonl].filter((source) => source !== undefined).length !== 1)
    throw new JobError(
      'usage',
      'a job needs its rows from one place: a CSV file, a JSONL file, or an iterable',
    );
  if ((command === undefined) === (codex === undefined))
    throw new JobError('usage', 'a job needs one worker: a command, or an instruction for Codex');
  if (command !== undefined && (command.length === 0 || command[0] === ''))
    throw new JobError('usage', 'the command of a job must have a program');
  if (codex !== undefined && codex.instruction.trim() === '')
    throw new JobError('usage', 'instruction must be non-empty');
  if (timeoutMs !== undefined && !(timeoutMs >= LEAST_TIMEOUT_MS))
    throw new JobError('usage', 'max_runtime_seconds must be >= 1');
  requireWholeNumber('concurrency', concurrency, 1);
  requireWholeNumber('retries', retries, 0);
  if (unbounded !== true && (concurrency ?? 0) > MAX_CONCURRENCY)
    throw new JobError(
      'usage',
      `a concurrency of ${concurrency} is more than the limit of ${MAX_CONCURRENCY}; lift it by \`unbounded\``,
    );
  await createResultCheck(schema);
}

function requireWholeNumber(name: string, value: number | undefined, least: number): void {
  if (value !== undefined && !(Number.isSafeInteger(value) && value >= least))
    throw new JobError('usage', `\`${name}\` must be a whole number of at least ${least}: ${value}`);
}

function openSource({ rows, csv, jsonl }: CreateJobOptions): RowSource {
  if (csv !== undefined) return readCsv(csv);
  if (jsonl !== undefined) return readJsonl(jsonl);
  return readIterable(rows ?? []);
}

function toSettings(
  options: CreateJobOptions,
  made: {
    readonly id: string;
    readonly directory: string;
    readonly columns: readonly string[];
    readonly totalItems: number;
  },
): JobSettings {
  const { csv, jsonl, schema, outputJsonl, codex, machines = [] } = options;
  const { id, directory, columns, totalItems } = made;
  const cwd = options.cwd ?? (machines.length === 0 ? process.cwd() : undefined);
  return {
    version: 1,
    id,
    name: `agent-job-${id.slice(0, 8)}`,
    createdAt: Date.now(),
    secret: randomBytes(32).toString('base64url'),
    command: options.command ?? codex?.command ?? ['codex'],
    ...(codex !== undefined && { codex: { instruction: codex.instruction } }),
    columns,
    totalItems,
    concurrency: options.concurrency ?? DEFAULT_CONCURRENCY,
    timeoutMs: options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
    retries: options.retries ?? 0,
    output: resolve(options.output ?? defaultOutput(csv ?? jsonl, id, directory)),
    ...(outputJsonl !== undefined && { outputJsonl: resolve(outputJsonl) }),
    ...(schema !== undefined && { schema }),
    demandsResult: options.demandsResult ?? schema !== undefined,
    ...(cwd !== undefined && { cwd }),
    env: options.env ?? {},
    inheritEnv: options.inheritEnv ?? 'core',
    machines,
  };
}

/** `<stem>.agent-job-<first 8>.csv` beside the input. */
function defaultOutput(input: string | undefined, id: string, directory: string): string {
  if (input === undefined) return join(directory, 'output.csv');
  const stem = basename(input, extname(input));
  return join(dirname(input), `${stem}.agent-job-${id.slice(0, 8)}.csv`);
}

/** Puts the names of files on disk, too. */
async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path);
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
