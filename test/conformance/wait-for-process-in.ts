import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { DEFAULT_DEADLINE_MS } from '@exec-server/testing';

/** A process that is not ours announces itself nowhere but in /proc, so this asks again, in milliseconds. */
const POLL_INTERVAL_MS = 10;

/** Waits until a process with exactly these arguments runs in `cwd`. */
export async function waitForProcessIn(cwd: string, argv: readonly string[]): Promise<void> {
  const commandLine = argv.map((argument) => `${argument}\0`).join('');
  const deadline = performance.now() + DEFAULT_DEADLINE_MS;
  while (!readdirSync('/proc').some((pid) => runsIn(pid, cwd, commandLine))) {
    if (performance.now() > deadline) throw new Error(`no process ${argv.join(' ')} appeared in ${cwd}`);
    await delay(POLL_INTERVAL_MS);
  }
}

function runsIn(pid: string, cwd: string, commandLine: string): boolean {
  if (!/^\d+$/.test(pid)) return false;
  try {
    return (
      readFileSync(`/proc/${pid}/cmdline`, 'latin1') === commandLine &&
      readlinkSync(`/proc/${pid}/cwd`) === cwd
    );
  } catch {
    // It has gone since the listing, or belongs to somebody else.
    return false;
  }
}
