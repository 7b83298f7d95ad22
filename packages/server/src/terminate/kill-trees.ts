import { constants } from 'node:os';
import { killCgroups } from '../native/cgroup/kill-cgroups.js';
import type { LaunchedProcess } from '../native/launch.js';
import { collectTrees, readProcessTable, signalProcess, type TreeMember } from '../native/process-tree.js';
import { OsError } from '../os-error.js';
import { signalNumber } from '../process/signal-names.js';

const SIGKILL = signalNumber('SIGKILL');
const SIGSTOP = signalNumber('SIGSTOP');

/** Looks at the process table after which a tree that still grows is killed as it is. */
const MAX_LOOKS = 16;

/** A tree of processes, named by its root. */
export type TreeRoot = Pick<
  LaunchedProcess,
  'pid' | 'reaped' | 'pidForgotten' | 'signalGroup' | 'cgroup' | 'keepers' | 'noteSignal'
>;

/** Whom a signal reached. */
export interface SignalOutcome {
  readonly pids: readonly number[];
  /** Set when somebody is out of reach, such as a process that has become another user's, as under `sudo`. */
  readonly refusal: OsError | undefined;
}

/**
 * Kills processes with everything they started: their groups, sessions and cgroups, and descendants that left these.
 * Whoever is out of reach does not save the others.
 *
 * Everybody is stopped first: a killed parent takes the knowledge of its children with it, and one that runs may start
 * more while the tree is read. Only when a look finds nobody new is anybody killed.
 */
export function killTrees(roots: readonly TreeRoot[]): SignalOutcome {
  if (roots.length === 0) return { pids: [], refusal: undefined };
  return stopAndKill(roots, () => findMembers(roots));
}

/** Kills trees whose members are those that `look` finds, and whoever else is in their groups and cgroups. */
export function stopAndKill(roots: readonly TreeRoot[], look: () => readonly TreeMember[]): SignalOutcome {
  const cgroups = roots.flatMap(({ cgroup }) => cgroup ?? []);
  for (const cgroup of cgroups) cgroup.freeze();
  signalGroups(roots, SIGSTOP);
  const members = new Map<number, TreeMember>();
  const reached = new Set<number>();
  for (let looks = 0; looks < MAX_LOOKS; looks++) {
    const found = look().filter(({ pid }) => !members.has(pid));
    if (found.length === 0) break;
    for (const member of found) members.set(member.pid, member);
    for (const pid of signalMembers(found, SIGSTOP).pids) reached.add(pid);
  }
  // One by one first: whoever the group's signal had killed could no longer be counted. Nor could one whose group the
  // system hangs up, stopped as it is, when the kill of its parent leaves it orphaned: who was stopped counts.
  const { pids, refusal } = signalMembers([...members.values()], SIGKILL);
  for (const pid of pids) reached.add(pid);
  const groupRefusal = signalGroups(roots, SIGKILL);
  killCgroups(cgroups);
  return { pids: [...reached], refusal: refusal ?? groupRefusal };
}

/** Everybody in the trees, as of now. */
export function findMembers(roots: readonly TreeRoot[]): TreeMember[] {
  const table = readProcessTable();
  // Not everybody in there is a process, some are threads; the table has the processes only.
  const inCgroups = roots.flatMap(({ cgroup }) => cgroup?.readThreads() ?? []);
  return collectTrees([...ownNumbers(roots, table), ...inCgroups], table);
}

/** The numbers of the roots that still mean them: where one is reaped and its number runs again, it is somebody else's. */
export function ownNumbers(roots: readonly TreeRoot[], table: ReadonlyMap<number, unknown>): number[] {
  const own = roots.filter(({ pid, reaped, pidForgotten }) => !pidForgotten && (!reaped || !table.has(pid)));
  return own.map(({ pid }) => pid);
}

/** Signals those that still are who they were. */
export function signalMembers(members: readonly TreeMember[], signal: number): SignalOutcome {
  const pids: number[] = [];
  let refusal: OsError | undefined;
  for (const { pid, startTime } of members) {
    const answer = attempt(() => signalProcess(pid, startTime, signal));
    if (answer === 'sent') pids.push(pid);
    else if (answer === 'refused') refusal = new OsError(constants.errno.EPERM, 'kill');
  }
  return { pids, refusal };
}

function signalGroups(roots: readonly TreeRoot[], signal: number): OsError | undefined {
  const answers = roots
    .filter(({ reaped }) => !reaped)
    .map((root) => attempt(() => root.signalGroup(signal)));
  return answers.includes('refused') ? new OsError(constants.errno.EPERM, 'kill') : undefined;
}

function attempt(send: () => boolean): 'sent' | 'gone' | 'refused' {
  try {
    return send() ? 'sent' : 'gone';
  } catch {
    return 'refused';
  }
}
