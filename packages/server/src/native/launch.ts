import type { ProcessCgroup } from './cgroup/process-cgroup.js';
import type { TreeMember } from './process-tree.js';
import type { TreeMark } from './tree-marks.js';

/** Which kind of descriptors the child gets, and with them which streams it has. */
export type LaunchStdio =
  | { readonly kind: 'pipes'; readonly stdin: 'null' | 'pipe' }
  | {
      readonly kind: 'pty';
      readonly rows: number;
      readonly cols: number;
      /**
       * Leaves the terminal to whoever among the child's descendants makes it the controlling one of a session.
       * @default false, it is the child's
       */
      readonly leaveTerminal?: boolean;
    };

/** A resolved request to start a program: nothing in here is looked up, defaulted or expanded any more. */
export interface LaunchPlan {
  /** Path of the file to execute. */
  readonly program: string;
  /** The child's whole argv, `argv[0]` included. */
  readonly argv: readonly string[];
  /** Absolute directory; bytes, because a path need not be text. */
  readonly cwd: Uint8Array;
  /** The child's whole environment. */
  readonly env: ReadonlyMap<string, string>;
  readonly stdio: LaunchStdio;
  /** Descriptors of this process that the child gets under the given number (3 and up). */
  readonly extraDescriptors: readonly { readonly fd: number; readonly as: number }[];
}

export type OutputStream = 'stdout' | 'stderr' | 'pty';

/** How a child ended, as the kernel told it. */
export type ExitStatus =
  | { readonly kind: 'exited'; readonly code: number }
  | { readonly kind: 'signaled'; readonly signal: number }
  | { readonly kind: 'unknown'; readonly reason: string };

/** One stream of a child. Nothing is read before `start`. */
export interface OutputSource {
  readonly stream: OutputStream;
  /**
   * Begins to read. `onChunk` gets buffers of 1..65536 bytes that the receiver may keep; `onEnd` comes exactly once,
   * after the last byte that any holder of the stream wrote.
   */
  start(onChunk: (chunk: Buffer) => void, onEnd: () => void): void;
  /** Stops reading, so that the child blocks once the kernel's buffer is full. At most one more chunk may follow. */
  pause(): void;
  resume(): void;
  /** Stops reading for good and releases the descriptor; `onEnd` follows if it has not come yet. */
  destroy(): void;
}

/** The writing side of a child's stdin. The caller writes one buffer at a time. */
export interface InputTarget {
  /**
   * Resolves when the kernel took all bytes; rejects with an `OsError` (EPIPE and the like) when it never will.
   * Waits, without blocking the loop, for as long as the child does not read.
   */
  write(bytes: Uint8Array): Promise<void>;
  /**
   * What to write so that the child sees the end of its input: the terminal's end-of-file character. Nothing for a pipe,
   * which is closed instead.
   */
  endMark(): Uint8Array | undefined;
  /** Closes a pipe; on a pty it does nothing. Idempotent. A write under way rejects. */
  close(): void;
}

/** A started child: its own session and process group, led by `pid`. */
export interface LaunchedProcess {
  readonly pid: number;
  /** The program itself, where `pid` only keeps it, as a sandbox does. */
  readonly programPid?: number;
  /** Who only keeps the program and ends with it: asked to end he would take it along before its time. */
  readonly keepers?: readonly number[];
  /** Takes note of a signal that the program was sent by other ways than `signalGroup`. */
  noteSignal?(signal: number): void;
  /** stdout and stderr, or the one pty stream. */
  readonly outputs: readonly OutputSource[];
  /** `null` when stdin is /dev/null. */
  readonly input: InputTarget | null;
  /** Resolves when the direct child has been reaped. Never rejects. */
  readonly exit: Promise<ExitStatus>;
  /** Sends a signal to the whole process group; false when it no longer exists. Throws `OsError` otherwise. */
  signalGroup(signal: number): boolean;
  /** True once the direct child has been reaped: from then on `pid` names it no more, though its group may live. */
  readonly reaped: boolean;
  /** True once nothing is left of its group and session: from then on `pid` may name anybody. */
  readonly pidForgotten: boolean;
  /** What holds everything together that the child starts; `null` where the system has no such thing for us. */
  readonly cgroup: ProcessCgroup | null;
  /** What everything that the child starts inherits; `null` where the system has no such thing for us. */
  readonly mark: TreeMark | null;
  /** Resolves some time after nothing is left of the child and what it started. Never rejects. */
  readonly gone: Promise<void>;
  /** Sets the terminal's size. Throws `OsError`; only for ptys. */
  resize(size: { readonly rows: number; readonly cols: number }): void;
}

/** Starts programs. One per server; owns what must outlive or watch the children. */
export interface Launcher {
  /** Throws `OsError` when the program cannot be started. Blocks the loop for the spawn itself only. */
  launch(plan: LaunchPlan): LaunchedProcess;
  /**
   * Processes that came from children of this launcher, and nothing says from which. Throws when it cannot look. Absent
   * where nobody can be found that way.
   */
  findUnclaimed?(): TreeMember[];
  /** Whether a process is one of those, or descends from one. */
  isUnclaimed?(pid: number): boolean;
  /** Releases everything. Call it when all children are gone. */
  close(): Promise<void>;
}
