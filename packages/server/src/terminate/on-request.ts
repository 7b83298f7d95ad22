import type { SignalName } from '@exec-server/protocol';
import type { Clock } from '../clock.js';
import type { ManagedProcess } from '../process/managed-process.js';
import { terminateGracefully } from './gracefully.js';
import { type KillOutcome, killOneTree } from './kill-one-tree.js';
import { killTrees } from './kill-trees.js';

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
  /** Who was signalled. */
  readonly pids: readonly number[];
  /**
   * Ends at once, rather than soon, who may have been overlooked, and resolves with who that was. Rejects with `OsError`
   * when one could not be reached.
   */
  readonly killStragglers?: () => Promise<readonly number[]>;
}

/**
 * Ends a process because its client asked. What it wrote is still delivered. Throws `OsError` when somebody of it could
 * not be reached; the others are ended all the same.
 */
export function terminateOnRequest(
  process: ManagedProcess,
  mode: TerminateMode,
  clock: Clock,
): TerminateOutcome {
  if (process.exit !== undefined) return { running: false, pids: [] };
  if (mode !== 'force') {
    const { graceMs: timeoutMs, signal = 'SIGTERM' } = mode;
    return asOutcome(terminateGracefully(process, { signal, timeoutMs, clock }));
  }
  const killed = killOneTree(process);
  // Not before the kill: a program that sees the end of its input may exit in its own way.
  process.stdin?.abandon();
  return asOutcome(killed);
}

/** Kills what a process that has ended left running. */
export function killLeftovers(process: ManagedProcess): TerminateOutcome {
  return { ...asOutcome(killTrees([process])), running: false };
}

function asOutcome({
  pids,
  refusal,
  rest,
  killStragglers = rest && (() => rest),
}: KillOutcome): TerminateOutcome {
  if (refusal !== undefined) throw refusal;
  if (killStragglers === undefined) return { running: true, pids };
  return { running: true, pids, killStragglers: async () => asOutcome(await killStragglers()).pids };
}
