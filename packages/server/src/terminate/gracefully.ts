import type { SignalName } from '@exec-server/protocol';
import type { Clock } from '../clock.js';
import type { TreeMember } from '../native/process-tree.js';
import type { ManagedProcess } from '../process/managed-process.js';
import { signalNumber } from '../process/signal-names.js';
import {
  findMembers,
  killTrees,
  type SignalOutcome,
  signalGroups,
  signalMembers,
  type TreeRoot,
} from './kill-trees.js';

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
  const members = tryFindMembers(tree)?.filter(({ pid }) => !tree.keepers?.includes(pid));
  tree.noteSignal?.(signal);
  const asked = members === undefined ? askGroup(tree, signal) : signalMembers(members, signal);
  let gone = false;
  const timer = options.clock.after(options.timeoutMs, () => {
    // Once its session is empty the number of the root may be somebody else's.
    if (!gone) killTrees([tree]);
    signalMembers(members ?? [], signalNumber('SIGKILL'));
    stdin?.abandon();
  });
  void process.gone.then(() => {
    gone = true;
    const { pids, unknown } = signalMembers(members ?? [], 0);
    if (pids.length === 0 && unknown.length === 0) timer.cancel();
  });
  return { pids: asked.pids, refusal: asked.refusal };
}

/** Nothing when nobody can be looked for now. */
function tryFindMembers(tree: TreeRoot): TreeMember[] | undefined {
  try {
    return findMembers([tree]);
  } catch {
    return undefined;
  }
}

/** The others go without the grace: they are looked for again when the time is up. */
function askGroup(tree: TreeRoot, signal: number): SignalOutcome {
  const { refusal } = signalGroups([tree], signal);
  return { pids: refusal === undefined ? [tree.pid] : [], refusal };
}
