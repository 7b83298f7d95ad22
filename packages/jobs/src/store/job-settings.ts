import { readFile } from 'node:fs/promises';
import { JobError, messageOf } from '../errors.js';

/** A machine that workers run on, other than a server of the job's own. */
export interface MachineSettings {
  /** Unique in the job. */
  readonly name: string;
  readonly url: string;
  /** File with its token, where it needs one. */
  readonly tokenFile?: string;
  /** Certificate authorities to trust, a PEM file. */
  readonly tlsCaFile?: string;
  /** Workers that run on it at once. @default the concurrency of the job */
  readonly slots?: number;
}

/** What a job is. It never changes. */
export interface JobSettings {
  readonly version: 1;
  /** A UUID. */
  readonly id: string;
  /** `agent-job-<first 8 of the id>`. */
  readonly name: string;
  /** Unix time in milliseconds. */
  readonly createdAt: number;
  /** Makes the tokens of workers. */
  readonly secret: string;
  /** Program and arguments; of a job for Codex those before `exec`. */
  readonly command: readonly string[];
  /** The worker is the Codex CLI, whose events say what became of its turn. */
  readonly codex?: { readonly instruction: string };
  /** Of the input. */
  readonly columns: readonly string[];
  readonly totalItems: number;
  /** Workers that run at once. */
  readonly concurrency: number;
  /** How long a worker may run, in milliseconds. */
  readonly timeoutMs: number;
  /** Attempts beyond the first. */
  readonly retries: number;
  /** The file that the results go to as CSV. */
  readonly output: string;
  /** The file that they go to as JSON lines, too. */
  readonly outputJsonl?: string;
  /** JSON Schema of results. */
  readonly schema?: unknown;
  /** An item is completed only with a result. */
  readonly demandsResult: boolean;
  /** Working directory of workers; the server's own where it is absent. */
  readonly cwd?: string;
  readonly env: Readonly<Record<string, string>>;
  readonly inheritEnv: 'core' | 'all' | 'none';
  /** Machines to run on; a server of the job's own where there are none. */
  readonly machines: readonly MachineSettings[];
}

/** Rejects with `JobError` where there is no job, or one of another version. */
export async function readJobSettings(path: string): Promise<JobSettings> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    throw new JobError('not_found', `there is no job here: ${messageOf(error)}`, { cause: error });
  }
  let settings: JobSettings;
  try {
    settings = JSON.parse(text) as JobSettings;
  } catch (error) {
    throw new JobError('corrupt', `the settings of the job are damaged: ${messageOf(error)}`, {
      cause: error,
    });
  }
  if (settings.version !== 1)
    throw new JobError(
      'corrupt',
      `the job has version ${String(settings.version)}; this program knows version 1`,
    );
  return settings;
}
