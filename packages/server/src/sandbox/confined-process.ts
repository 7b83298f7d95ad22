import type { ExitStatus, LaunchedProcess } from '../native/launch.js';
import { findChildren, type NamedProcess, readInnerPid } from '../native/namespace-members.js';
import {
  collectTrees,
  readProcess,
  readProcessTable,
  signalProcess,
  signalProcessGroup,
} from '../native/process-tree.js';

/** The number that the first program of a sandbox has in there; the one before is of who waits for it. */
const FIRST_PROGRAM = 2;

/** Codes from here on up are 128 + the number of the signal that ended the program, where they are not exact. */
const SIGNAL_CODES_FROM = 128;

/**
 * A program in a sandbox, to be dealt with like any other. The child that was launched waits outside for another that
 * waits inside for the program: signals must reach the program and neither of those two.
 */
export class ConfinedProcess implements LaunchedProcess {
  readonly pid: number;
  readonly programPid: number;
  readonly keepers: readonly number[];
  readonly outputs: LaunchedProcess['outputs'];
  readonly input: LaunchedProcess['input'];
  readonly exit: Promise<ExitStatus>;
  readonly cgroup: LaunchedProcess['cgroup'];
  readonly mark: LaunchedProcess['mark'];
  readonly gone: Promise<void>;
  readonly #launched: LaunchedProcess;
  readonly #program: NamedProcess | undefined;
  readonly #sentSignals = new Set<number>();

  /** To be made when the program runs; it may have ended meanwhile. */
  constructor(
    launched: LaunchedProcess,
    private readonly keptBy: 'exact' | 'coded',
  ) {
    const [init] = findChildren(launched.pid);
    this.#launched = launched;
    this.#program = init && findChildren(init.pid).find(({ pid }) => readInnerPid(pid) === FIRST_PROGRAM);
    this.pid = launched.pid;
    this.programPid = this.#program?.pid ?? launched.pid;
    this.keepers = init === undefined ? [launched.pid] : [launched.pid, init.pid];
    this.outputs = launched.outputs;
    this.input = launched.input;
    this.cgroup = launched.cgroup;
    this.mark = launched.mark;
    this.gone = launched.gone;
    this.exit = launched.exit.then((status) => this.#explainExit(status));
  }

  get reaped(): boolean {
    return this.#launched.reaped;
  }

  get pidForgotten(): boolean {
    return this.#launched.pidForgotten;
  }

  signalGroup(signal: number): boolean {
    const program = this.#program;
    if (program === undefined) return false;
    this.noteSignal(signal);
    // The group has the program's number, which is nobody else's for as long as the program runs.
    if (readProcess(program.pid)?.startTime === program.startTime)
      return signalProcessGroup(program.pid, signal);
    return this.#signalLeftovers(program.pid, signal);
  }

  noteSignal(signal: number): void {
    this.#sentSignals.add(signal);
  }

  resize(size: { readonly rows: number; readonly cols: number }): void {
    this.#launched.resize(size);
  }

  /** What the program left of its group, one by one: the number of the group may be somebody else's group by now. */
  #signalLeftovers(group: number, signal: number): boolean {
    if (this.pidForgotten) return false;
    const table = readProcessTable();
    const left = collectTrees([this.pid], table).filter(({ pid }) => table.get(pid)?.pgid === group);
    return left.map(({ pid, startTime }) => signalProcess(pid, startTime, signal)).includes(true);
  }

  /**
   * Bubblewrap says 128 + n of a program that signal n ended, and so do shells of their children when they end. Only of a
   * signal that was sent from here is it known.
   */
  #explainExit(status: ExitStatus): ExitStatus {
    if (this.keptBy === 'exact' || status.kind !== 'exited') return status;
    const signal = status.code - SIGNAL_CODES_FROM;
    return this.#sentSignals.has(signal) ? { kind: 'signaled', signal } : status;
  }
}
