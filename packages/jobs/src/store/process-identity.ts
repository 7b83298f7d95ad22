import { readFile } from 'node:fs/promises';

/** A process, told apart from another one that gets its id later. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Boot and time of its start, as the kernel counts; empty where the system does not tell. */
  readonly started: string;
}

export async function identifyProcess(pid: number): Promise<ProcessIdentity> {
  return { pid, started: await readStart(pid) };
}

/** Whether the process still runs, as far as this user can see. */
export async function isRunning({ pid, started }: ProcessIdentity): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // Somebody else's process has the id; ours is gone unless it has changed its user.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  return started === '' || (await readStart(pid)) === started;
}

/** Fields of `/proc/PID/stat` behind the name of the program, which ends with the last bracket. */
const START_TIME_FIELD = 19;

async function readStart(pid: number): Promise<string> {
  try {
    const [boot, stat] = await Promise.all([
      readFile('/proc/sys/kernel/random/boot_id', 'utf8'),
      readFile(`/proc/${pid}/stat`, 'utf8'),
    ]);
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // A zombie runs no more.
    if (fields[0] === 'Z') return 'gone';
    return `${boot.trim()} ${fields[START_TIME_FIELD] ?? ''}`;
  } catch {
    return '';
  }
}
