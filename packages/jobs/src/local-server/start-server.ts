import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { JobError } from '../errors.js';
import type { JobFiles } from '../store/job-directory.js';
import { isRunning } from '../store/process-identity.js';
import type { ServerRecord } from './serve-job.js';

/** What a job's own server is started with where nobody says otherwise; the directory of the job follows. */
export const DEFAULT_SERVER_COMMAND: readonly string[] = [
  process.execPath,
  fileURLToPath(new URL('./main.js', import.meta.url)),
];

/** End of a server's last words that are told, in UTF-16 units. */
const MAX_LAST_WORDS = 2_000;
/** How often it is looked whether a server that was asked to end has ended, in milliseconds. */
const LOOK_INTERVAL_MS = 10;
/** How long that may take, in milliseconds. */
const END_LIMIT_MS = 10_000;
/** How long another server may take to say where it is, in milliseconds. */
const START_LIMIT_MS = 2_000;

/** The job's own server, as long as it runs. */
export async function findServer({ server }: JobFiles): Promise<ServerRecord | undefined> {
  let text: string;
  try {
    text = await readFile(server, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  const record = JSON.parse(text) as ServerRecord;
  return (await isRunning(record.process)) ? record : undefined;
}

/**
 * Starts a server that outlives this process. It begins in `cwd`, which is where workers run that are not told where.
 * Rejects with `JobError`.
 */
export async function startServer(
  files: JobFiles,
  command: readonly string[],
  cwd: string | undefined,
): Promise<ServerRecord> {
  const log = await open(files.serverLog, 'a', 0o600);
  try {
    const [program = '', ...args] = command;
    const child = spawn(program, [...args, files.directory], {
      detached: true,
      stdio: ['ignore', 'pipe', log.fd],
      ...(cwd !== undefined && { cwd }),
    });
    const failed = once(child, 'exit');
    const { stdout } = child;
    if (stdout === null) throw new Error('it has no stdout');
    const ready = once(stdout, 'data');
    ready.catch(() => {});
    await Promise.race([ready, failed]);
    stdout.destroy();
    child.unref();
    // One that a killed runner started may have come first, and may not have said so yet.
    for (let waited = 0; waited < START_LIMIT_MS; waited += LOOK_INTERVAL_MS) {
      const record = await findServer(files);
      if (record !== undefined) return record;
      await new Promise((resolve) => setTimeout(resolve, LOOK_INTERVAL_MS));
    }
  } catch (error) {
    throw new JobError('server', `the job's own server cannot be started: ${(error as Error).message}`, {
      cause: error,
    });
  } finally {
    await log.close();
  }
  const words = (await readFile(files.serverLog, 'utf8')).slice(-MAX_LAST_WORDS).trim();
  throw new JobError('server', `the job's own server has ended${words === '' ? '' : `: ${words}`}`);
}

/** Ends the job's own server, and resolves when it is gone. */
export async function endServer(files: JobFiles): Promise<void> {
  const record = await findServer(files);
  if (record === undefined) return;
  process.kill(record.process.pid, 'SIGTERM');
  for (let waited = 0; waited < END_LIMIT_MS && (await isRunning(record.process)); waited += LOOK_INTERVAL_MS)
    await new Promise((resolve) => setTimeout(resolve, LOOK_INTERVAL_MS));
}
