import { constants } from 'node:os';
import { killCgroups } from '../native/cgroup/kill-cgroups.js';
import type { LaunchedProcess } from '../native/launch.js';
import { collectTrees, readProcessTable, signalProcess, type TreeMember } from '../native/process-tree.js';
import { saysHidden } from '../native/system-files.js';
import { findMarked } from '../native/tree-marks.js';
import { OsError } from '../os-error.js';
import { signalNumber } from '../process/signal-names.js';
import { type EndAttempt, UnfinishedEnds } from './unfinished-ends.js';

const SIGKILL = signalNumber('SIGKILL');
const SIGSTOP = signalNumber('SIGSTOP');
const REFUSAL = new OsError(constants.errno.EPERM, 'kill');

/** Looks at the process table after which a tree that still grows is killed as it is. */
const MAX_LOOKS = 16;

/** A tree of processes, named by its root. */
export type TreeRoot = Pick<
  LaunchedProcess,
  'pid' | 'reaped' | 'pidForgotten' | 'signalGroup' | 'cgroup' | 'mark' | 'keepers' | 'noteSignal'
>;

/** Whom a signal reached. */
export interface SignalOutcome {
  readonly pids: readonly number[];
  /** Set when somebody is out of reach, such as a process that has become another user's, as under `sudo`. */
  readonly refusal: OsError | undefined;
  /** Set when somebody may have been overlooked: it is tried again until all are found, and told whom that reached. */
  readonly rest?: Promise<SignalOutcome>;
}

/** Whom a signal to processes, named one by one, reached. */
export interface MembersOutcome extends SignalOutcome {
  /** Those of whom nobody could say whether they still are who they were; they got no signal. */
  readonly unknown: readonly TreeMember[];
  /** Why not. */
  readonly failure: unknown;
}

const unfinishedEnds = new UnfinishedEnds((roots) => stopAndKill(roots, () => findMembers(roots)));

/**
 * Kills processes with everything they started: their groups, sessions and cgroups, who bears their marks, and
 * descendants that left these. Whoever is out of reach does not save the others. Never throws.
 *
 * Everybody is stopped first: a killed parent takes the knowledge of its children with it, and one that runs may start
 * more while the tree is read. Only when a look finds nobody new is anybody killed.
 */
export function killTrees(roots: readonly TreeRoot[]): SignalOutcome {
  if (roots.length === 0) return { pids: [], refusal: undefined };
  return finishLater(
    roots,
    stopAndKill(roots, () => findMembers(roots)),
  );
}

/** Sees to it that an attempt which may have overlooked somebody is repeated until it cannot have. */
export function finishLater(roots: readonly TreeRoot[], { failure, ...outcome }: EndAttempt): SignalOutcome {
  return failure === undefined ? outcome : { ...outcome, rest: unfinishedEnds.add(roots) };
}

/**
 * Kills trees whose members are those that `look` finds, and whoever else is in their groups and cgroups. Whatever fails,
 * nobody who was stopped is left so.
 */
export function stopAndKill(roots: readonly TreeRoot[], look: () => readonly TreeMember[]): EndAttempt {
  const cgroups = roots.flatMap(({ cgroup }) => cgroup ?? []);
  for (const cgroup of cgroups) cgroup.freeze();
  signalGroups(roots, SIGSTOP);
  const members = new Map<number, TreeMember>();
  const reached = new Set<number>();
  let failure: unknown;
  try {
    for (let looks = 0; looks < MAX_LOOKS; looks++) {
      const found = look().filter(({ pid }) => !members.has(pid));
      if (found.length === 0) break;
      for (const member of found) members.set(member.pid, member);
      for (const pid of signalMembers(found, SIGSTOP).pids) reached.add(pid);
    }
  } catch (error) {
    failure = error;
  }
  // One by one first: whoever the group's signal had killed could no longer be counted. Nor could one whose group the
  // system hangs up, stopped as it is, when the kill of its parent leaves it orphaned: who was stopped counts.
  const killed = signalMembers([...members.values()], SIGKILL);
  for (const pid of killed.pids) reached.add(pid);
  // Only a kill ends who is stopped, so that his number still is his in the turn of the loop in which he was.
  for (const { pid } of killed.unknown) if (reached.has(pid)) attempt(() => process.kill(pid, SIGKILL));
  const groups = signalGroups(roots, SIGKILL);
  const cgroupFailure = killCgroups(cgroups);
  return {
    pids: [...reached],
    refusal: killed.refusal ?? groups.refusal,
    failure: failure ?? killed.failure ?? groups.failure ?? cgroupFailure,
  };
}

/** Everybody in the trees, as of now. Throws when it cannot look. */
export function findMembers(roots: readonly TreeRoot[]): TreeMember[] {
  const table = readProcessTable();
  // Not everybody in there is a process, some are threads; the table has the processes only.
  const inCgroups = roots.flatMap(({ cgroup }) => cgroup?.readThreads() ?? []);
  const marked = findMarked(
    roots.flatMap(({ mark }) => mark ?? []),
    table,
  );
  return collectTrees([...ownNumbers(roots, table), ...inCgroups, ...marked], table);
}

/** The numbers of the roots that still mean them: where one is reaped and its number runs again, it is somebody else's. */
export function ownNumbers(roots: readonly TreeRoot[], table: ReadonlyMap<number, unknown>): number[] {
  const own = roots.filter(({ pid, reaped, pidForgotten }) => !pidForgotten && (!reaped || !table.has(pid)));
  return own.map(({ pid }) => pid);
}

/** Signals those that still are who they were. Never throws. */
export function signalMembers(members: readonly TreeMember[], signal: number): MembersOutcome {
  const pids: number[] = [];
  const unknown: TreeMember[] = [];
  let refusal: OsError | undefined;
  let failure: unknown;
  for (const member of members) {
    const { pid, startTime } = member;
    const answer = attempt(() => signalProcess(pid, startTime, signal));
    if (answer === 'sent') pids.push(pid);
    else if (answer === 'refused') refusal = REFUSAL;
    else if (answer !== 'gone') {
      unknown.push(member);
      failure = answer.failure;
    }
  }
  return { pids, refusal, unknown, failure };
}

/** Signals the groups that the roots lead. Never throws. */
export function signalGroups(
  roots: readonly TreeRoot[],
  signal: number,
): Pick<EndAttempt, 'refusal' | 'failure'> {
  let refusal: OsError | undefined;
  let failure: unknown;
  for (const root of roots) {
    if (root.reaped) continue;
    const answer = attempt(() => root.signalGroup(signal));
    if (answer === 'refused') refusal = REFUSAL;
    else if (typeof answer === 'object') failure = answer.failure;
  }
  return { refusal, failure };
}

function attempt(send: () => boolean): 'sent' | 'gone' | 'refused' | { readonly failure: unknown } {
  try {
    return send() ? 'sent' : 'gone';
  } catch (error) {
    const refused = error instanceof OsError ? error.errno === REFUSAL.errno : saysHidden(error);
    return refused ? 'refused' : { failure: error };
  }
}
