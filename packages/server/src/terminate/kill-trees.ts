import { constants } from 'node:os';
import { killCgroups } from '../native/cgroup/kill-cgroups.js';
import type { ProcessCgroup } from '../native/cgroup/process-cgroup.js';
import type { LaunchedProcess } from '../native/launch.js';
import { NewProcesses, type VisitOutcome } from '../native/new-processes.js';
import {
  collectTrees,
  readProcessTable,
  readVisibleProcess,
  signalProcess,
  type TreeMember,
} from '../native/process-tree.js';
import { saysHidden } from '../native/system-files.js';
import { findMarked } from '../native/tree-marks.js';
import { OsError } from '../os-error.js';
import { signalNumber } from '../process/signal-names.js';
import { type EndAttempt, UnfinishedEnds } from './unfinished-ends.js';

const SIGKILL = signalNumber('SIGKILL');
const SIGSTOP = signalNumber('SIGSTOP');
const ESCAPE = new Error('processes start others faster than they can be stopped');
const REFUSAL = new OsError(constants.errno.EPERM, 'kill');

/** Looks at the process table after which a tree that still grows is killed as it is. */
export const MAX_LOOKS = 16;

/** Longest time that those who were started during a look are looked for in one piece, in milliseconds. */
const CATCH_MS = 4;

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
  /** Set when some of them have cgroups: resolves when nobody is left in these, or only who cannot be killed. */
  readonly done?: Promise<void>;
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
export function finishLater(
  roots: readonly TreeRoot[],
  { failure, emptied, ...outcome }: EndAttempt,
): SignalOutcome {
  if (failure !== undefined) return { ...outcome, rest: unfinishedEnds.add(roots) };
  if (emptied === undefined) return outcome;
  const finish = async () => {
    if ((await emptied) !== undefined) await unfinishedEnds.add(roots);
  };
  return { ...outcome, done: finish() };
}

/**
 * Kills trees whose members are those that `look` finds, and whoever else is in their groups and cgroups, in one piece.
 * Whatever fails, nobody who was stopped is left so. All signals are sent when it returns.
 *
 * @param belongs tells of a process that was started during a look whether it is one of them; by default, who bears a mark
 */
export function stopAndKill(
  roots: readonly TreeRoot[],
  look: () => readonly TreeMember[],
  belongs?: (pid: number) => boolean,
): EndAttempt {
  const trees = new StoppedTrees(roots, belongs);
  let failure: unknown;
  try {
    for (let looks = 0; looks < MAX_LOOKS; looks++) {
      const newProcesses = new NewProcesses();
      const grew = trees.stop(look());
      const news = trees.stopNew(newProcesses);
      if (!grew && !news.grew && news.visited === 'all') break;
    }
  } catch (error) {
    failure = error;
  }
  return trees.kill(failure);
}

/** Trees that are being killed, whose groups and cgroups have been stopped; in the end they have to be killed. */
export class StoppedTrees {
  readonly #roots: readonly TreeRoot[];
  readonly #cgroups: readonly ProcessCgroup[];
  readonly #belongs: ((pid: number) => boolean) | undefined;
  readonly #members = new Map<number, TreeMember>();
  readonly #reached = new Set<number>();
  /** Only a kill ends who is stopped, so that his number still is his in the turn of the loop in which he was. */
  #isSameTurn = true;
  /** Somebody may not be signalled, so that nobody need try again. */
  #isRefused = false;
  /** Somebody of the trees started others faster than he could be stopped, when it was last looked. */
  #isEscaping = false;

  constructor(roots: readonly TreeRoot[], belongs = createMarkTest(roots)) {
    this.#roots = roots;
    this.#belongs = belongs;
    this.#cgroups = roots.flatMap(({ cgroup }) => cgroup ?? []);
    for (const cgroup of this.#cgroups) cgroup.freeze();
    signalGroups(roots, SIGSTOP);
  }

  /** Who was reached so far. */
  get members(): TreeMember[] {
    return [...this.#members.values()].filter(({ pid }) => this.#reached.has(pid));
  }

  /** Others have had a turn of the loop since somebody was stopped. */
  passTurn(): void {
    this.#isSameTurn = false;
  }

  /** Stops those that a look has found. False when nobody of them is new. */
  stop(found: readonly TreeMember[]): boolean {
    const fresh = found.filter(({ pid }) => !this.#members.has(pid));
    for (const member of fresh) this.#members.set(member.pid, member);
    const { pids, refusal } = signalMembers(fresh, SIGSTOP);
    for (const pid of pids) this.#reached.add(pid);
    this.#isRefused ||= refusal !== undefined;
    return fresh.length > 0;
  }

  /**
   * Stops those that were started since somebody began to look, and whom that look cannot have found. Tells whether there
   * were any, and whether all have been seen. Throws when it cannot look.
   */
  stopNew(newProcesses: NewProcesses): { readonly grew: boolean; readonly visited: VisitOutcome } {
    const belongs = this.#belongs;
    if (belongs === undefined) return { grew: false, visited: 'all' };
    let grew = false;
    const visited = newProcesses.visit((pid) => {
      if (this.#members.has(pid) || !belongs(pid)) return;
      grew = true;
      const entry = readVisibleProcess(pid);
      if (entry !== null) this.stop([{ pid, startTime: entry.startTime }]);
    }, CATCH_MS);
    this.#isEscaping = grew && visited !== 'all' && !this.#isRefused;
    return { grew, visited };
  }

  /** @param lookFailure why somebody may have been overlooked */
  kill(lookFailure?: unknown): EndAttempt {
    // One by one first: whoever the group's signal had killed could no longer be counted. Nor could one whose group the
    // system hangs up, stopped as it is, when the kill of its parent leaves it orphaned: who was stopped counts.
    const killed = signalMembers([...this.#members.values()], SIGKILL);
    for (const pid of killed.pids) this.#reached.add(pid);
    for (const { pid } of killed.unknown)
      if (this.#isSameTurn && this.#reached.has(pid)) attempt(() => process.kill(pid, SIGKILL));
    const groups = signalGroups(this.#roots, SIGKILL);
    return {
      pids: [...this.#reached],
      refusal: killed.refusal ?? groups.refusal,
      failure: lookFailure ?? killed.failure ?? groups.failure ?? (this.#isEscaping ? ESCAPE : undefined),
      emptied: this.#cgroups.length === 0 ? undefined : killCgroups(this.#cgroups),
    };
  }
}

/** A test of who bears a mark of the trees; nothing where they have none. */
function createMarkTest(roots: readonly TreeRoot[]): ((pid: number) => boolean) | undefined {
  const marks = roots.flatMap(({ mark }) => mark ?? []);
  const [first] = marks;
  if (first === undefined) return undefined;
  const wanted = new Set(marks.map(({ number }) => number));
  // Children have sessions of their own. Who is in this one was started by another thread of this process, just when it
  // bore a mark itself.
  const ownSession = readVisibleProcess(process.pid)?.sid;
  return (pid) => wanted.has(first.marks.readAny(pid)) && readVisibleProcess(pid)?.sid !== ownSession;
}

/** Everybody in the trees, as of now, in one piece: it takes long among many processes. Throws when it cannot look. */
function findMembers(roots: readonly TreeRoot[]): TreeMember[] {
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
