import { homedir } from 'node:os';
import { join } from 'node:path';

/** Where jobs are kept: `EXEC_SERVER_JOBS`, or `exec-server/jobs` among the user's state files. */
export function findJobsRoot(env: Readonly<Record<string, string | undefined>> = process.env): string {
  if (env.EXEC_SERVER_JOBS) return env.EXEC_SERVER_JOBS;
  const state = env.XDG_STATE_HOME || join(env.HOME || homedir(), '.local', 'state');
  return join(state, 'exec-server', 'jobs');
}

/** The files of a job. */
export interface JobFiles {
  readonly directory: string;
  /** What the job is, which never changes. */
  readonly settings: string;
  /** The rows, one item on each line. */
  readonly rows: string;
  readonly journal: string;
  /** Is there once somebody wants the job to be cancelled. */
  readonly cancel: string;
  /** Where the job's own server is. */
  readonly server: string;
  readonly serverLog: string;
  /** What workers work with; a directory for each attempt. */
  readonly work: string;
  /** Output of workers, a file for each attempt. */
  readonly logs: string;
}

export function jobFiles(directory: string): JobFiles {
  return {
    directory,
    settings: join(directory, 'job.json'),
    rows: join(directory, 'rows.jsonl'),
    journal: join(directory, 'journal.jsonl'),
    cancel: join(directory, 'cancel'),
    server: join(directory, 'server.json'),
    serverLog: join(directory, 'server.log'),
    work: join(directory, 'work'),
    logs: join(directory, 'logs'),
  };
}
