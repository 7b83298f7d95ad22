import type { SignalName } from '@exec-server/protocol';
import type { Clock } from '../clock.js';
import { collectWholeTree } from '../native/cgroup/whole-tree.js';
import { inTurn } from '../native/end-turns.js';
import { nameProcesses, type TreeMember } from '../native/process-tree.js';
import type { ManagedProcess } from '../process/managed-process.js';
import { signalNumber } from '../process/signal-names.js';
import { type KillOutcome, killOneTree } from './kill-one-tree.js';
import { signalGroups, signalMembers, type TreeRoot } from './kill-trees.js';
import { sharedLooks } from './shared-looks.js';

/**
 * Asks a process and everything it started to end, and kills what is left after `timeoutMs`. Resolves with who was asked.
 * Those found now are remembered: a parent that ends well takes the knowledge of its children with it.
 */
export async function terminateGracefully(
  process: ManagedProcess,
  options: { readonly signal: SignalName; readonly timeoutMs: number; readonly clock: Clock },
): Promise<KillOutcome> {
  const { stdin, tree } = process;
  const signal = signalNumber(options.signal);
  const members = (await tryFindMembers(tree))?.filter(({ pid }) => !tree.keepers?.includes(pid));
  tree.noteSignal?.(signal);
  const asked = members === undefined ? askGroup(tree, signal) : askMembers(members, signal);
  let gone = false;
  const timer = options.clock.after(options.timeoutMs, () => {
    // Once its session is empty the number of the root may be somebody else's.
    const finish = () => {
      signalMembers(members ?? [], signalNumber('SIGKILL'));
      stdin?.abandon();
    };
    if (gone) finish();
    else void killOneTree(tree, finish);
  });
  void process.gone.then(() => {
    gone = true;
    const { pids, unknown } = signalMembers(members ?? [], 0);
    if (pids.length === 0 && unknown.length === 0) timer.cancel();
  });
  return asked;
}

/** Nothing when nobody can be looked for now. */
async function tryFindMembers(tree: TreeRoot): Promise<TreeMember[] | undefined> {
  try {
    const { pid, reaped, cgroup } = tree;
    const whole = reaped || cgroup === null ? null : await inTurn(() => collectWholeTree(pid, cgroup));
    return whole ?? (await sharedLooks.find(tree));
  } catch {
    return undefined;
  }
}

function askMembers(members: readonly TreeMember[], signal: number): KillOutcome {
  const { pids, refusal } = signalMembers(members, signal);
  const asked = new Set(pids);
  return { pids, refusal, members: members.filter(({ pid }) => asked.has(pid)) };
}

/** The others go without the grace: they are looked for again when the time is up. */
function askGroup(tree: TreeRoot, signal: number): KillOutcome {
  const { refusal } = signalGroups([tree], signal);
  const pids = refusal === undefined ? [tree.pid] : [];
  return { pids, refusal, members: tryName(pids) };
}

function tryName(pids: readonly number[]): TreeMember[] {
  try {
    return nameProcesses(pids);
  } catch {
    return [];
  }
}
