import { constants } from 'node:fs';
import { OsError } from '../os-error.js';
import type { Logger } from '../telemetry/logger.js';
import { keepFreedMemory } from './allocator.js';
import { CgroupHome } from './cgroup/cgroup-home.js';
import type { ProcessCgroup } from './cgroup/process-cgroup.js';
import { type Channels, PipeChannels, PtyChannels } from './channels.js';
import { ESRCH } from './constants.js';
import { descriptorReserve } from './descriptor-reserve.js';
import { DescriptorScope, duplicateDescriptor } from './descriptors.js';
import { Guardian, type GuardianWard } from './guardian.js';
import { useHostBase64 } from './host-base64.js';
import type { LaunchedProcess, Launcher, LaunchPlan, LaunchStdio } from './launch.js';
import { collectLeaders, LeftoverSweep } from './leftover-sweep.js';
import { type Libc, loadLibc } from './libc.js';
import { ExitNotice, NativeChild } from './native-child.js';
import { startGuardian } from './native-guardian.js';
import { OomScore } from './oom-score.js';
import { openInputPipe, openOutputPipe } from './pipes.js';
import { ProcessGroup } from './process-group.js';
import type { TreeMember } from './process-tree.js';
import { openPty } from './pty.js';
import { reaper } from './reaper.js';
import { type SpawnRequest, type StdioAction, spawnProcess } from './spawn.js';
import { subreaper } from './subreaper.js';
import { type TreeMark, TreeMarks } from './tree-marks.js';

const DEV_NULL_INPUT: StdioAction = { kind: 'open', path: '/dev/null', flags: constants.O_RDONLY, as: 0 };

type PtyStdio = Extract<LaunchStdio, { kind: 'pty' }>;

export interface NativeLauncherOptions {
  readonly guardian: boolean;
  readonly cgroups: boolean;
  /** @default false */
  readonly subreaper?: boolean;
  readonly logger: Logger;
}

/** Starts children by `posix_spawn`, on real pipes and ptys, and reaps them. Throws when libc cannot be reached. */
export class NativeLauncher implements Launcher {
  readonly #libc: Libc = loadLibc();
  readonly #guardian: Guardian | null;
  readonly #cgroups: CgroupHome | null;
  readonly #groups = new Map<number, ProcessGroup>();
  readonly #oomScore = new OomScore();
  readonly #sweep = new LeftoverSweep<number>(
    () => collectLeaders(),
    (leader) => this.#forgetGroup(leader),
  );
  readonly #marks = new TreeMarks(this.#libc);
  readonly #markSweep = new LeftoverSweep<TreeMark>(
    async (asked) => {
      const living = await this.#marks.collect();
      return new Set(asked.filter(({ number }) => living.has(number)));
    },
    (mark) => mark.forget(),
  );
  readonly #releaseReserve = descriptorReserve.hold();
  readonly #releaseOrphans: () => void;
  #closed = false;

  constructor(options: NativeLauncherOptions) {
    const { guardian, cgroups, logger } = options;
    keepFreedMemory(this.#libc);
    useHostBase64(this.#libc);
    const home = cgroups ? makeCgroupHome(logger) : null;
    this.#cgroups = home;
    const ward: GuardianWard = { cgroupHome: home?.path ?? null, markPrefix: this.#marks.prefix };
    this.#guardian = guardian ? new Guardian(() => startGuardian(this.#libc, ward), logger) : null;
    this.#releaseOrphans = options.subreaper ? this.#adoptOrphans(logger) : () => {};
  }

  /** The pid of the guardian shell, once a child was started. */
  get guardianPid(): number | null {
    return this.#guardian?.pid ?? null;
  }

  launch(plan: LaunchPlan): LaunchedProcess {
    if (this.#closed) throw new Error('the launcher is closed');
    const scope = new DescriptorScope(this.#libc);
    try {
      const { stdio } = plan;
      return stdio.kind === 'pty'
        ? this.#launchPty(plan, stdio, scope)
        : this.#launchPipes(plan, stdio.stdin, scope);
    } finally {
      scope.closeAll();
    }
  }

  findUnclaimed(): TreeMember[] {
    return subreaper.findUnclaimed(this.#marks);
  }

  isUnclaimed(pid: number): boolean {
    return subreaper.isUnclaimed(pid, this.#marks);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#sweep.close();
    this.#markSweep.close();
    await this.#cgroups?.close();
    await this.#guardian?.close();
    this.#releaseOrphans();
    this.#releaseReserve();
  }

  #adoptOrphans(logger: Logger): () => void {
    try {
      return subreaper.become(this.#libc, this.#marks);
    } catch (error) {
      logger.warn({ error }, 'processes that lose their parents are left to the system');
      return () => {};
    }
  }

  #launchPipes(plan: LaunchPlan, stdin: 'null' | 'pipe', scope: DescriptorScope): LaunchedProcess {
    const libc = this.#libc;
    const input = stdin === 'pipe' ? openInputPipe(libc, scope) : null;
    const stdout = openOutputPipe(libc, scope);
    const stderr = openOutputPipe(libc, scope);
    const stdio: StdioAction[] = [
      input === null ? DEV_NULL_INPUT : { kind: 'duplicate', fd: input.theirs, as: 0 },
      { kind: 'duplicate', fd: stdout.theirs, as: 1 },
      { kind: 'duplicate', fd: stderr.theirs, as: 2 },
    ];
    return this.#spawn(
      { ...plan, stdio },
      () =>
        new PipeChannels(libc, {
          stdin: input && scope.release(input.ours),
          stdout: scope.release(stdout.ours),
          stderr: scope.release(stderr.ours),
        }),
    );
  }

  #launchPty(plan: LaunchPlan, terminal: PtyStdio, scope: DescriptorScope): LaunchedProcess {
    const libc = this.#libc;
    const pty = openPty(libc, terminal, scope);
    const flags = constants.O_RDWR | (terminal.leaveTerminal ? constants.O_NOCTTY : 0);
    // One descriptor has one watch, so that the writing side gets a descriptor of its own.
    const writeEnd = scope.own(duplicateDescriptor(libc, pty.master));
    const stdio: StdioAction[] = [
      // Opened by the child itself, and after it leads a session: that makes it the controlling terminal.
      { kind: 'open', path: pty.slavePath, flags, as: 0 },
      { kind: 'duplicate', fd: 0, as: 1 },
      { kind: 'duplicate', fd: 0, as: 2 },
    ];
    return this.#spawn(
      { ...plan, stdio },
      () =>
        new PtyChannels(libc, {
          master: scope.release(pty.master),
          writeEnd: scope.release(writeEnd),
          slave: scope.release(pty.slave),
        }),
    );
  }

  #spawn(request: SpawnRequest, openChannels: () => Channels): NativeChild {
    const notice = new ExitNotice();
    this.#guardian?.start();
    const { pid, cgroup, mark } = this.#start(request, notice);
    this.#oomScore.raise(pid);
    // An earlier child with this number can only be one whose whole session is gone.
    this.#sweep.delete(pid);
    this.#groups.get(pid)?.forget();
    const group = new ProcessGroup(pid, this.#signalGroup);
    this.#groups.set(pid, group);
    this.#guardian?.add(pid);
    const channels = openChannels();
    notice.child = new NativeChild({ pid, group, cgroup, mark, channels, onReaped: this.#onReaped });
    return notice.child;
  }

  #start(request: SpawnRequest, notice: ExitNotice): Pick<NativeChild, 'pid' | 'cgroup' | 'mark'> {
    let cgroup: ProcessCgroup | null = null;
    let mark: TreeMark | null = null;
    const spawn = () => {
      const marked = this.#marks.start(() => spawnProcess(this.#libc, request));
      mark = marked.mark;
      return marked.started;
    };
    const start = () => {
      if (this.#cgroups === null) return spawn();
      const inGroup = this.#cgroups.startInGroup(spawn);
      cgroup = inGroup.cgroup;
      return inGroup.started;
    };
    const pid = reaper.spawn(this.#libc, start, notice);
    return { pid, cgroup, mark };
  }

  readonly #onReaped = ({ pid, cgroup, mark }: NativeChild): void => {
    this.#sweep.add(pid);
    if (mark !== null) this.#markSweep.add(mark);
    // Not before whoever waits for the end has been told of it.
    if (cgroup !== null) setImmediate(() => this.#cgroups?.reapedLeader(cgroup));
  };

  readonly #signalGroup = (leader: number, signal: number): boolean => {
    if (this.#libc.kill(-leader, signal) === 0) return true;
    const errno = this.#libc.errno();
    if (errno !== ESRCH) throw new OsError(errno, 'kill');
    return false;
  };

  #forgetGroup(leader: number): void {
    this.#groups.get(leader)?.forget();
    this.#groups.delete(leader);
    this.#guardian?.delete(leader);
  }
}

function makeCgroupHome(logger: Logger): CgroupHome | null {
  try {
    return new CgroupHome(logger);
  } catch (error) {
    logger.debug({ error }, 'no cgroups: daemons are found by their marks, which they can shed');
    return null;
  }
}
