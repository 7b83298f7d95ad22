import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { DEFAULT_DEADLINE_MS } from './deadline.js';

/** The kernel tells nobody but the parent of a process that it has gone, so this asks again, in milliseconds. */
const POLL_INTERVAL_MS = 10;

/** Waits until `pid` runs no more; a zombie counts as gone, as only its parent can reap it. */
export async function waitForProcessGone(pid: number, deadlineMs = DEFAULT_DEADLINE_MS): Promise<void> {
  const deadline = performance.now() + deadlineMs;
  while (isRunning(pid)) {
    if (performance.now() > deadline) throw new Error(`process ${pid} is still running`);
    await delay(POLL_INTERVAL_MS);
  }
}

/** Whether `pid` exists and is no zombie. */
export function isRunning(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name in parentheses may itself contain parentheses and spaces; the state follows the last.
    return stat.charAt(stat.lastIndexOf(')') + 2) !== 'Z';
  } catch {
    return false;
  }
}
