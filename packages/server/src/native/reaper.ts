import { ECHILD } from './constants.js';
import type { ExitStatus } from './launch.js';
import type { Libc } from './libc.js';

const P_ALL = 0;
const WNOHANG = 0x01;
const WEXITED = 0x04;
const WNOWAIT = 0x01_00_00_00;
const SIGINFO_BYTES = 128;
/** Where `si_pid` lies in a `siginfo_t` of a 64-bit system. */
const SIGINFO_PID_OFFSET = 16;
/** How often every child is asked for, in case that a foreign `wait` or a lost signal hid its end. */
const SCAN_INTERVAL_MS = 10_000;

/**
 * How long a zombie that may be somebody else's child waits for him, in milliseconds. Node takes its own at the signal
 * of their end.
 */
const ORPHAN_WAIT_MS = 1_000;

/** Whose descendant a process is. */
export interface Marks {
  /** Something for what a launcher of this process has started, and for its descendants; `undefined` for all others. */
  read(pid: number): unknown;
}

interface Child {
  readonly onExit: (status: ExitStatus) => void;
  readonly keepsAlive: boolean;
}

/**
 * Learns how children ended. SIGCHLD and the list of zombies belong to the process as a whole, so all launchers of a
 * process share one reaper; it listens only while there are children, or orphans to be taken. Beside those it takes no
 * child that it was not told of.
 */
class Reaper {
  readonly #children = new Map<number, Child>();
  readonly #info = Buffer.alloc(SIGINFO_BYTES);
  readonly #status = new Int32Array(1);
  #libc: Libc | null = null;
  readonly #orphanTakers = new Set<Marks>();
  /** The zombie first in line, if it may be somebody else's, and when it was seen first. */
  #suspect: { readonly pid: number; readonly since: number } | null = null;
  #orphanTimer: NodeJS.Timeout | null = null;
  #keepAliveCount = 0;
  #scanTimer: NodeJS.Timeout | null = null;
  #listening = false;

  /**
   * Runs `spawn` and watches the pid that it returns; what it throws is passed on. `onExit` comes exactly once, never
   * before this returned. A child with `keepsAlive` keeps the event loop alive, which the signal listener does not.
   */
  spawn(libc: Libc, spawn: () => number, child: Child): number {
    // Listening first: the signal of a child that ends at once would be lost otherwise.
    this.#listen(libc);
    let pid: number;
    try {
      pid = spawn();
    } catch (error) {
      this.#stopListeningIfIdle();
      throw error;
    }
    this.#children.set(pid, child);
    if (child.keepsAlive) this.#keepAliveCount += 1;
    this.#updateScanTimer();
    return pid;
  }

  /** Whether the pid is that of a child that has been started here and not been reaped. */
  knows(pid: number): boolean {
    return this.#children.has(pid);
  }

  /**
   * Reaps also those who became children of this process by losing their parents, until the returned function is called.
   * Who bears a mark is one of them. Of others only who is in another session, and nobody has reaped for a while: Node's
   * own children, and those of other libraries, are left to their owners.
   */
  takeOrphans(libc: Libc, marks: Marks): () => void {
    const taker: Marks = { read: (pid) => tryRead(marks, pid) };
    this.#orphanTakers.add(taker);
    this.#listen(libc);
    // Some may be waiting already.
    this.#reapReady();
    return () => {
      this.#orphanTakers.delete(taker);
      this.#stopListeningIfIdle();
    };
  }

  #listen(libc: Libc): void {
    if (this.#listening) return;
    this.#listening = true;
    this.#libc = libc;
    process.on('SIGCHLD', this.#reapReady);
  }

  #stopListeningIfIdle(): void {
    if (this.#children.size > 0 || this.#orphanTakers.size > 0 || !this.#listening) return;
    this.#listening = false;
    process.off('SIGCHLD', this.#reapReady);
    if (this.#orphanTimer !== null) clearTimeout(this.#orphanTimer);
    this.#orphanTimer = null;
    this.#suspect = null;
  }

  /** One signal may stand for several children. */
  readonly #reapReady = (): void => {
    for (;;) {
      const pid = this.#peekZombie();
      if (pid !== this.#suspect?.pid) this.#suspect = null;
      if (pid === 0) return;
      if (this.#reap(pid) || this.#reapOrphan(pid)) continue;
      // Somebody else's zombie stays first in line until its owner takes it, and hides ours.
      this.#scan();
      return;
    }
  };

  /** False when the zombie may be somebody else's child. */
  #reapOrphan(pid: number): boolean {
    if (this.#orphanTakers.size === 0 || this.#libc === null) return false;
    const isMarked = [...this.#orphanTakers].some((marks) => marks.read(pid) !== undefined);
    if (!isMarked && !this.#hasWaited(this.#libc, pid)) return false;
    return this.#libc.waitpid(pid, this.#status, WNOHANG) === pid;
  }

  #hasWaited(libc: Libc, pid: number): boolean {
    if (libc.getsid(pid) === libc.getsid(0)) return false;
    const now = performance.now();
    if (this.#suspect?.pid !== pid) this.#suspect = { pid, since: now };
    else if (now - this.#suspect.since >= ORPHAN_WAIT_MS) return true;
    this.#orphanTimer ??= setTimeout(() => {
      this.#orphanTimer = null;
      this.#reapReady();
    }, ORPHAN_WAIT_MS).unref();
    return false;
  }

  /** The pid of any child that can be reaped, without reaping it; 0 for none. */
  #peekZombie(): number {
    this.#info.fill(0);
    const result = this.#libc?.waitid(P_ALL, 0, this.#info, WEXITED | WNOHANG | WNOWAIT);
    return result === 0 ? this.#info.readInt32LE(SIGINFO_PID_OFFSET) : 0;
  }

  readonly #scan = (): void => {
    for (const pid of this.#children.keys()) this.#reap(pid);
  };

  /** False when the pid is not a child of ours. */
  #reap(pid: number): boolean {
    const child = this.#children.get(pid);
    if (child === undefined || this.#libc === null) return false;
    const result = this.#libc.waitpid(pid, this.#status, WNOHANG);
    if (result === 0) return true;
    const status = result === pid ? decodeStatus(this.#status[0]!) : describeFailure(this.#libc.errno());
    this.#forget(pid, child);
    child.onExit(status);
    return true;
  }

  #forget(pid: number, child: Child): void {
    this.#children.delete(pid);
    if (child.keepsAlive) this.#keepAliveCount -= 1;
    this.#stopListeningIfIdle();
    this.#updateScanTimer();
  }

  #updateScanTimer(): void {
    if (this.#children.size === 0) {
      if (this.#scanTimer !== null) clearInterval(this.#scanTimer);
      this.#scanTimer = null;
      return;
    }
    this.#scanTimer ??= setInterval(this.#scan, SCAN_INTERVAL_MS);
    if (this.#keepAliveCount > 0) this.#scanTimer.ref();
    else this.#scanTimer.unref();
  }
}

/** Who cannot be looked at is not known to be marked, and has his time like all others. */
function tryRead(marks: Marks, pid: number): unknown {
  try {
    return marks.read(pid);
  } catch {
    return undefined;
  }
}

/** The layout of a wait status: signal in the low 7 bits, exit code in the next byte but one. */
function decodeStatus(status: number): ExitStatus {
  const signal = status & 0x7f;
  return signal === 0 ? { kind: 'exited', code: (status >> 8) & 0xff } : { kind: 'signaled', signal };
}

function describeFailure(errno: number): ExitStatus {
  const reason =
    errno === ECHILD ? 'the exit status was taken by somebody else' : `waitpid failed with ${errno}`;
  return { kind: 'unknown', reason };
}

export const reaper = new Reaper();
