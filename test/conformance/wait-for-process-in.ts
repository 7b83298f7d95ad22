import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { pollUntil } from './poll-until.js';

/** A process as /proc shows it. */
export interface SeenProcess {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
}

/** Waits until a process with exactly these arguments runs in `cwd`, and `condition` holds for it. */
export async function waitForProcessIn(
  cwd: string,
  argv: readonly string[],
  condition: (process: SeenProcess) => boolean = () => true,
): Promise<void> {
  const commandLine = argv.map((argument) => `${argument}\0`).join('');
  await pollUntil(`${argv.join(' ')} runs in ${cwd}`, () =>
    readdirSync('/proc').some((pid) => runsIn(pid, cwd, commandLine, condition)),
  );
}

function runsIn(
  pid: string,
  cwd: string,
  commandLine: string,
  condition: (process: SeenProcess) => boolean,
): boolean {
  if (!/^\d+$/.test(pid)) return false;
  try {
    if (readFileSync(`/proc/${pid}/cmdline`, 'latin1') !== commandLine) return false;
    if (readlinkSync(`/proc/${pid}/cwd`) !== cwd) return false;
    const [, parent, group] = readStat(Number(pid));
    return condition({ pid: Number(pid), parent: Number(parent), group: Number(group) });
  } catch {
    // It has gone since the listing, or belongs to somebody else.
    return false;
  }
}

/** Whether a process waits for something, by the state that the kernel gives it. */
export function isAsleep(pid: number): boolean {
  return readStat(pid)[0] === 'S';
}

/** State, parent, group and what follows. The name before them may itself contain parentheses and spaces. */
function readStat(pid: number): string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}
