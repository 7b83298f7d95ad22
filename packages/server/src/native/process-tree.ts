import { execFileSync } from 'node:child_process';
import { platform } from 'node:process';
import { OsError } from '../os-error.js';
import { descriptorReserve } from './descriptor-reserve.js';
import { listSystemDirectory, readSystemLine, unlessHidden } from './system-files.js';

export interface ProcessEntry {
  readonly ppid: number;
  readonly pgid: number;
  /** Session id; 0 where the system does not tell. */
  readonly sid: number;
  /** Together with the pid it names one process for good: clock ticks since boot on Linux, epoch ms elsewhere. */
  readonly startTime: number;
}

export interface TreeMember {
  readonly pid: number;
  readonly startTime: number;
}

/** Longest line of /proc/<pid>/stat that is read, in bytes; the kernel writes some 350 at most. */
const MAX_STAT_BYTES = 1_024;
const statBuffer = Buffer.alloc(MAX_STAT_BYTES);

/** Every process of the system that still runs and is not hidden, by pid. A zombie is not one. Throws when it cannot look. */
export function readProcessTable(): Map<number, ProcessEntry> {
  return platform === 'linux' ? new Map(scanProc()) : parsePsTable(runPs());
}

/** The same one at a time, for a caller that must not hold the loop. Linux only. */
export function* scanProc(): Generator<[pid: number, entry: ProcessEntry]> {
  for (const name of listSystemDirectory('/proc') ?? []) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    const entry = readVisibleProcess(pid);
    if (entry !== null) yield [pid, entry];
  }
}

/**
 * Every process in the sessions or groups that the roots lead or led, and every descendant of those by parentage, the
 * roots themselves included. A process that left the session and whose parents are all gone is not found.
 */
export function collectTrees(
  rootPids: Iterable<number>,
  table: ReadonlyMap<number, ProcessEntry> = readProcessTable(),
): TreeMember[] {
  return new ProcessIndex(table).collectTrees(rootPids);
}

/** A process table by what holds processes together, to find many trees in. */
export class ProcessIndex {
  /** Children by their parent. */
  readonly #below = new Map<number, number[]>();
  /** Members by the leader of their session, and by that of their group. */
  readonly #byLeader = new Map<number, number[]>();

  constructor(readonly table: ReadonlyMap<number, ProcessEntry>) {
    for (const [pid, { ppid, pgid, sid }] of table) {
      append(this.#below, ppid, pid);
      append(this.#byLeader, sid, pid);
      if (pgid !== sid) append(this.#byLeader, pgid, pid);
    }
  }

  /** See {@link collectTrees}. */
  collectTrees(rootPids: Iterable<number>): TreeMember[] {
    const found = new Set<number>();
    for (const root of rootPids) {
      if (this.table.has(root)) found.add(root);
      for (const pid of this.#byLeader.get(root) ?? []) found.add(pid);
    }
    // A Set visits what is added while it is walked, so this reaches every generation.
    for (const pid of found) {
      for (const child of this.#below.get(pid) ?? []) found.add(child);
    }
    return Array.from(found, (pid) => ({ pid, startTime: this.table.get(pid)!.startTime }));
  }
}

function append(lists: Map<number, number[]>, key: number, pid: number): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [pid]);
  else list.push(pid);
}

/** Those of the processes with these numbers that run. Throws when it cannot look. */
export function nameProcesses(pids: readonly number[]): TreeMember[] {
  const table = platform === 'linux' ? null : readProcessTable();
  return pids.flatMap((pid) => {
    const entry = table === null ? readVisibleProcess(pid) : table.get(pid);
    return entry ? [{ pid, startTime: entry.startTime }] : [];
  });
}

/**
 * Sends a signal if the pid still is that process; false when it is gone or another one. Throws when it may not be
 * signalled, and when nobody can say who has the pid.
 */
export function signalProcess(pid: number, startTime: number, signal: number): boolean {
  const current = platform === 'linux' ? readProcess(pid) : parsePsTable(runPs(pid)).get(pid);
  if (current?.startTime !== startTime) return false;
  try {
    return process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}

/** Sends a signal to a process group; false when nobody is in it. Throws `OsError`. */
export function signalProcessGroup(group: number, signal: number): boolean {
  try {
    return process.kill(-group, signal);
  } catch (error) {
    const { code, errno = 0 } = error as NodeJS.ErrnoException;
    if (code === 'ESRCH') return false;
    throw new OsError(Math.abs(errno), 'kill');
  }
}

/** One process; `null` when it runs no more, or is hidden: a system may hide the processes of other users. Linux only. */
export function readVisibleProcess(pid: number): ProcessEntry | null {
  return unlessHidden(() => readProcess(pid));
}

/** One process; `null` when it runs no more. Throws when it cannot look. Linux only. */
export function readProcess(pid: number): ProcessEntry | null {
  const line = readSystemLine(`/proc/${pid}/stat`, statBuffer);
  return line === null ? null : parseStat(line);
}

/** The command name may hold spaces, parentheses and line breaks; everything behind its last `)` is plain. */
function parseStat(line: string): ProcessEntry | null {
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
  const [state, ppid, pgid, sid] = fields;
  if (state === 'Z' || state === 'X' || sid === undefined) return null;
  return { ppid: Number(ppid), pgid: Number(pgid), sid: Number(sid), startTime: Number(fields[19]) };
}

const PS_COLUMNS = ['pid', 'ppid', 'pgid', 'stat', 'lstart'].flatMap((name) => ['-o', `${name}=`]);

function runPs(pid?: number): string {
  const selection = pid === undefined ? ['-A'] : ['-p', String(pid)];
  try {
    return descriptorReserve.use(() =>
      execFileSync('/bin/ps', [...selection, ...PS_COLUMNS], {
        encoding: 'utf8',
        env: { LC_ALL: 'C', TZ: 'UTC' },
        stdio: ['ignore', 'pipe', 'ignore'],
      }),
    );
  } catch (error) {
    // `ps -p` exits with a code when there is no such process; without one it did not run.
    if (pid !== undefined && typeof (error as { status?: unknown }).status === 'number') return '';
    throw error;
  }
}

/** Exported for its test; sessions are not among the columns, because macOS prints none. */
export function parsePsTable(output: string): Map<number, ProcessEntry> {
  const table = new Map<number, ProcessEntry>();
  for (const line of output.split('\n')) {
    const [pid, ppid, pgid, state, ...started] = line.trim().split(/\s+/);
    if (state === undefined || state.startsWith('Z')) continue;
    const startTime = Date.parse(`${started.join(' ')} UTC`);
    table.set(Number(pid), { ppid: Number(ppid), pgid: Number(pgid), sid: 0, startTime });
  }
  return table;
}
