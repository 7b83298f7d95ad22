import type { SignalName } from '@exec-server/protocol';
import type { Clock } from '../clock.js';
import type { TreeMember } from '../native/process-tree.js';
import type { ManagedProcess } from '../process/managed-process.js';
import { terminateGracefully } from './gracefully.js';
import { type KillOutcome, killOneTree } from './kill-one-tree.js';
import type { SignalOutcome } from './kill-trees.js';

/** How a client wants a process ended: at once, or after a time of grace. */
export type TerminateMode =
  | 'force'
  | {
      readonly graceMs: number;
      /** @default 'SIGTERM' */
      readonly signal?: SignalName;
    };

/** What a request to end a process came to. */
export interface TerminateOutcome {
  /** False when it had ended before; then only what it left running was signalled, and only if that was asked for. */
  readonly running: boolean;
  /** Who was signalled, and who of them can be told from others that get their numbers. */
  readonly pids: readonly number[];
  readonly members: readonly TreeMember[];
  /**
   * Ends at once, rather than soon, who may have been overlooked, and resolves with who that was. Rejects with `OsError`
   * when one could not be reached.
   */
  readonly killStragglers?: () => Promise<readonly number[]>;
}

/** What it comes to when there is nothing to end. */
export const NOT_RUNNING: TerminateOutcome = { running: false, pids: [], members: [] };

/**
 * Ends a process because its client asked. What it wrote is still delivered. Resolves when the signals have been sent, and
 * nobody is left whom a cgroup holds. Rejects with `OsError` when somebody of it could not be reached; the others are
 * ended all the same.
 */
export async function terminateOnRequest(
  process: ManagedProcess,
  mode: TerminateMode,
  clock: Clock,
): Promise<TerminateOutcome> {
  if (process.exit !== undefined) return NOT_RUNNING;
  if (mode !== 'force') {
    const { graceMs: timeoutMs, signal = 'SIGTERM' } = mode;
    return asOutcome(await terminateGracefully(process, { signal, timeoutMs, clock }));
  }
  // Not before the kill: a program that sees the end of its input may exit in its own way.
  return asOutcome(await killOneTree(process, () => process.stdin?.abandon()));
}

/** Kills what a process that has ended left running. */
export async function killLeftovers(process: ManagedProcess): Promise<TerminateOutcome> {
  return { ...asOutcome(await killOneTree(process)), running: false };
}

function asOutcome({
  pids,
  members,
  refusal,
  rest,
  killStragglers = rest && (() => rest),
}: KillOutcome): TerminateOutcome {
  if (refusal !== undefined) throw refusal;
  if (killStragglers === undefined) return { running: true, pids, members };
  return { running: true, pids, members, killStragglers: async () => takePids(await killStragglers()) };
}

function takePids({ pids, refusal }: SignalOutcome): readonly number[] {
  if (refusal !== undefined) throw refusal;
  return pids;
}
