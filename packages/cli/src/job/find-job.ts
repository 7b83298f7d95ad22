import {
  describeJob,
  findJob,
  findJobsRoot,
  type JobDescription,
  JobError,
  listJobs,
} from '@exec-server/jobs';
import { CommandError } from '../command-error.js';
import type { CommandIo } from '../command-io.js';
import type { JobPlaceFlags } from '../commands/job.js';
import { UsageError } from '../usage-error.js';

/** Where jobs are kept. */
export function rootOf({ jobs }: JobPlaceFlags, { env }: Pick<CommandIo, 'env'>): string {
  return jobs ?? findJobsRoot(env);
}

/** The job that is meant: by its id or how that begins, or else the newest. */
export async function chooseJob(
  id: string | undefined,
  flags: JobPlaceFlags,
  io: Pick<CommandIo, 'env'>,
): Promise<JobDescription> {
  const root = rootOf(flags, io);
  if (id !== undefined) return describeJob(await findJob(root, id));
  const [newest] = await listJobs(root);
  if (newest === undefined) throw new JobError('not_found', `there is no job in ${root}`);
  return newest;
}

/** Says what goes wrong with a job in words for the person who typed the command. */
export async function explaining<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof JobError)) throw error;
    if (error.code === 'usage') throw new UsageError(error.message);
    const hint = error.code === 'locked' ? 'It can be followed by `exec-server job status`.' : undefined;
    throw new CommandError(error.message, { cause: error, ...(hint !== undefined && { hint }) });
  }
}
