import type { SignalName } from '@exec-server/protocol';
import type { Clock } from '../clock.js';
import type { ManagedProcess } from '../process/managed-process.js';
import { signalNumber } from '../process/signal-names.js';
import { findMembers, killTrees, type SignalOutcome, signalMembers } from './kill-trees.js';

/**
 * Asks a process and everything it started to end, and kills what is left after `timeoutMs`. Returns who was asked.
 * Those found now are remembered: a parent that ends well takes the knowledge of its children with it.
 */
export function terminateGracefully(
  process: ManagedProcess,
  options: { readonly signal: SignalName; readonly timeoutMs: number; readonly clock: Clock },
): SignalOutcome {
  const { stdin, tree } = process;
  const signal = signalNumber(options.signal);
  const members = findMembers([tree]).filter(({ pid }) => !tree.keepers?.includes(pid));
  tree.noteSignal?.(signal);
  const asked = signalMembers(members, signal);
  let gone = false;
  const timer = options.clock.after(options.timeoutMs, () => {
    // Once its session is empty the number of the root may be somebody else's.
    if (!gone) killTrees([tree]);
    signalMembers(members, signalNumber('SIGKILL'));
    stdin?.abandon();
  });
  void process.gone.then(() => {
    gone = true;
    if (signalMembers(members, 0).pids.length === 0) timer.cancel();
  });
  return asked;
}
