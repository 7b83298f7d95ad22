import type { Machine } from '@exec-server/client';
import { attemptCheck, type Check } from './check.js';

/** A process takes about four of them, a connection one. */
const FEW_OPEN_FILES = 1024;

/** A watch of a project covers as many directories as that has. */
const FEW_WATCHES = 8192;

const WATCHES_FILE = '/proc/sys/fs/inotify/max_user_watches';

/** What the system lets the server's processes have. */
export function checkLimits(machine: Machine): Promise<Check> {
  const name = 'limits';
  return attemptCheck(name, { status: 'limited' }, async () => {
    const { platformOs } = await machine.environment();
    if (platformOs !== 'linux') return { name, status: 'ok', finding: 'not told by this system' };
    const { stdout } = await machine.run(['cat', '/proc/self/limits'], { check: true });
    const watches = await machine.fs.readFile(WATCHES_FILE, 'utf8');
    return judgeLimits(parseLimits(stdout.text()), Number(watches));
  });
}

/** Soft limits of a process. */
interface ProcessLimits {
  readonly openFiles: number;
  readonly processes: number;
}

/** Reads what Linux has in `/proc/PID/limits`. */
export function parseLimits(text: string): ProcessLimits {
  const find = (title: string) => {
    const soft = new RegExp(`^${title} +(\\S+)`, 'm').exec(text)?.[1];
    return soft === undefined || soft === 'unlimited' ? Number.POSITIVE_INFINITY : Number(soft);
  };
  return { openFiles: find('Max open files'), processes: find('Max processes') };
}

export function judgeLimits({ openFiles, processes }: ProcessLimits, watches: number): Check {
  const advice = [
    ...(openFiles < FEW_OPEN_FILES ? ['Raise `ulimit -n` (LimitNOFILE= of a systemd unit).'] : []),
    ...(watches < FEW_WATCHES ? ['Raise `sysctl fs.inotify.max_user_watches`.'] : []),
  ];
  const numbers = { 'open files': openFiles, processes, 'file watches': watches };
  return {
    name: 'limits',
    status: advice.length === 0 ? 'ok' : 'limited',
    finding: Object.entries(numbers)
      .map(([title, limit]) => `${title} ${limit === Number.POSITIVE_INFINITY ? 'unlimited' : limit}`)
      .join(', '),
    ...(advice.length > 0 && { advice: advice.join(' ') }),
  };
}
