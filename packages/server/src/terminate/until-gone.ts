import { addAbortListener, removeAbortListener } from '@exec-server/rpc';
import type { Clock } from '../clock.js';
import { nameProcesses, type TreeMember } from '../native/process-tree.js';
import { signalMembers } from './kill-trees.js';

/** Between the first two looks at processes that are ending, in milliseconds; then each time twice as long. */
const FIRST_LOOK_MS = 5;

/** Longest time between two looks, in milliseconds. */
const MAX_LOOK_MS = 100;

interface WaitOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Resolves when none of the processes that have these numbers now runs any more. Rejects with the signal's reason. */
export function untilGone(pids: readonly number[], options: WaitOptions): Promise<void> {
  return wait(tryNameProcesses(pids), () => tryNameProcesses(pids), options);
}

/** Resolves when none of the processes runs any more. Rejects with the signal's reason. */
export function untilMembersGone(members: readonly TreeMember[], options: WaitOptions): Promise<void> {
  return wait(stillRunning(members), () => [], options);
}

/** @param find names those that could not be named before */
async function wait(
  first: TreeMember[] | undefined,
  find: () => TreeMember[] | undefined,
  { clock, signal }: WaitOptions,
): Promise<void> {
  let left = first;
  for (let lookMs = FIRST_LOOK_MS; left?.length !== 0; lookMs = Math.min(lookMs * 2, MAX_LOOK_MS)) {
    await pause(lookMs, clock, signal);
    left = left === undefined ? find() : stillRunning(left);
  }
}

/** Nothing when nobody can be looked for now: they are not gone for that. */
function tryNameProcesses(pids: readonly number[]): TreeMember[] | undefined {
  try {
    return nameProcesses(pids);
  } catch {
    return undefined;
  }
}

function stillRunning(members: readonly TreeMember[]): TreeMember[] {
  const { pids, unknown } = signalMembers(members, 0);
  const running = new Set([...pids, ...unknown.map(({ pid }) => pid)]);
  return members.filter(({ pid }) => running.has(pid));
}

function pause(delayMs: number, clock: Clock, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const abort = () => {
      timer.cancel();
      reject(signal.reason as Error);
    };
    const timer = clock.after(delayMs, () => {
      removeAbortListener(signal, abort);
      resolve();
    });
    addAbortListener(signal, abort);
  });
}
