import type { ProcessCgroup } from './cgroup/process-cgroup.js';
import type { Channels } from './channels.js';
import type { ExitStatus, InputTarget, LaunchedProcess, OutputSource } from './launch.js';
import type { ProcessGroup } from './process-group.js';
import type { TerminalSize } from './pty.js';
import type { TreeMark } from './tree-marks.js';

/** What a child is made of once it runs. */
export interface ChildParts {
  readonly pid: number;
  readonly group: ProcessGroup;
  readonly cgroup: ProcessCgroup | null;
  readonly mark: TreeMark | null;
  readonly channels: Channels;
  /** Called when the child has been reaped, before anybody else learns of it. */
  readonly onReaped: (child: NativeChild) => void;
}

/** A child of the native launcher, for as long as anybody cares: kept small, and nothing of its start. */
export class NativeChild implements LaunchedProcess {
  readonly pid: number;
  readonly cgroup: ProcessCgroup | null;
  readonly mark: TreeMark | null;
  readonly exit: Promise<ExitStatus>;
  readonly #group: ProcessGroup;
  readonly #channels: Channels;
  readonly #onReaped: (child: NativeChild) => void;
  #reportExit!: (status: ExitStatus) => void;

  constructor({ pid, group, cgroup, mark, channels, onReaped }: ChildParts) {
    this.pid = pid;
    this.cgroup = cgroup;
    this.mark = mark;
    this.#group = group;
    this.#channels = channels;
    this.#onReaped = onReaped;
    this.exit = new Promise((resolve) => {
      this.#reportExit = resolve;
    });
  }

  get outputs(): readonly OutputSource[] {
    return this.#channels.outputs;
  }

  get input(): InputTarget | null {
    return this.#channels.input;
  }

  get reaped(): boolean {
    return this.#group.leaderReaped;
  }

  get pidForgotten(): boolean {
    return this.#group.forgotten;
  }

  get gone(): Promise<void> {
    return this.#group.gone.then(() => this.cgroup?.emptied).then(() => this.mark?.gone);
  }

  signalGroup(signal: number): boolean {
    return this.#group.signal(signal);
  }

  resize(size: TerminalSize): void {
    this.#channels.resize(size);
  }

  /** Takes note of how it ended. */
  noteExit(status: ExitStatus): void {
    this.#channels.onExit();
    this.#group.reapedLeader();
    this.#onReaped(this);
    this.#reportExit(status);
  }
}

/** Hands the end of a child on to what is made of it, which begins when its number is known. */
export class ExitNotice {
  readonly keepsAlive = true;
  child: NativeChild | undefined;

  onExit(status: ExitStatus): void {
    this.child?.noteExit(status);
  }
}
