import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import { constants as os } from 'node:os';
import { OsError } from '../../os-error.js';
import type { Logger } from '../../telemetry/logger.js';
import { EAGAIN, EIO, ENOTSUP, ESRCH } from '../constants.js';
import { descriptorReserve } from '../descriptor-reserve.js';
import { GUARDIAN_PROGRAM, Guardian, type GuardianProcess, guardianArgv } from '../guardian.js';
import type { ExitStatus, LaunchedProcess, Launcher, LaunchPlan } from '../launch.js';
import { collectLeaders, LeftoverSweep } from '../leftover-sweep.js';
import { toOsError } from '../node-error.js';
import { ProcessGroup } from '../process-group.js';
import { checkTerminalSize, type TerminalSize } from '../pty.js';
import { checkPlan, choosePtyName } from './check-plan.js';
import { loadPtyBinding, SAME_ID } from './pty-binding.js';
import { PtySource } from './pty-source.js';
import { PtyTarget } from './pty-target.js';
import { StreamSource } from './stream-source.js';
import { StreamTarget } from './stream-target.js';

/**
 * Starts children with what Node and `@lydell/node-pty` offer, for systems without the native launcher. What it cannot
 * do it refuses with ENOTSUP: a working directory that is not UTF-8, and for ptys extra descriptors and an `argv[0]`
 * that is not the name of the program. What is different:
 * - pipes are socket pairs, so that a child cannot open `/dev/stdin`, `/dev/stdout` or `/dev/stderr` again;
 * - stdin ends when the direct child does, also for processes that it left behind;
 * - descriptors of this process that are not close-on-exec reach the children, and the masters of ptys are such;
 * - a file of no known format is run by the shell, where the native launcher fails with ENOEXEC;
 * - a pty child reports a total size of arguments that is too large on the terminal and by exit code 1;
 * - a terminal starts with the modes of `node-pty`, and a start blocks the loop for a fork.
 */
export class FallbackLauncher implements Launcher {
  readonly #guardian: Guardian | null;
  readonly #groups = new Map<number, ProcessGroup>();
  readonly #sweep = new LeftoverSweep<number>(
    () => collectLeaders(),
    (leader) => this.#forgetGroup(leader),
  );
  readonly #releaseReserve = descriptorReserve.hold();
  #closed = false;

  constructor(options: { readonly guardian: boolean; readonly logger: Logger }) {
    this.#guardian = options.guardian ? new Guardian(startGuardian, options.logger) : null;
  }

  /** The pid of the guardian shell, once a child was started. */
  get guardianPid(): number | null {
    return this.#guardian?.pid ?? null;
  }

  launch(plan: LaunchPlan): LaunchedProcess {
    if (this.#closed) throw new Error('the launcher is closed');
    const cwd = checkPlan(plan);
    const started =
      plan.stdio.kind === 'pty' ? launchPty(plan, plan.stdio, cwd) : launchPipes(plan, plan.stdio.stdin, cwd);
    return this.#track(started);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#sweep.close();
    await this.#guardian?.close();
    this.#releaseReserve();
  }

  #track(started: StartedChild): LaunchedProcess {
    const { pid } = started;
    const group = new ProcessGroup(pid, signalGroup);
    this.#reuseNumber(pid);
    this.#groups.set(pid, group);
    this.#guardian?.add(pid);
    void started.exit.then(() => {
      group.reapedLeader();
      this.#sweep.add(pid);
    });
    return {
      ...started,
      signalGroup: (signal) => group.signal(signal),
      gone: group.gone,
      get reaped() {
        return group.leaderReaped;
      },
      get pidForgotten() {
        return group.forgotten;
      },
      cgroup: null,
      mark: null,
    };
  }

  /** An earlier child with this number can only be one whose whole session is gone. */
  #reuseNumber(pid: number): void {
    this.#sweep.delete(pid);
    this.#groups.get(pid)?.forget();
  }

  #forgetGroup(leader: number): void {
    this.#groups.get(leader)?.forget();
    this.#groups.delete(leader);
    this.#guardian?.delete(leader);
  }
}

/** A child that nothing keeps track of yet. */
type StartedChild = Omit<
  LaunchedProcess,
  'signalGroup' | 'gone' | 'reaped' | 'pidForgotten' | 'cgroup' | 'mark'
>;

function launchPipes(plan: LaunchPlan, stdin: 'null' | 'pipe', cwd: string): StartedChild {
  const stdio: ('pipe' | 'ignore' | number)[] = [stdin === 'pipe' ? 'pipe' : 'ignore', 'pipe', 'pipe'];
  for (const { fd, as } of plan.extraDescriptors) {
    while (stdio.length < as) stdio.push('ignore');
    stdio[as] = fd;
  }
  const child = startChild(plan.program, plan.argv, { cwd, env: Object.fromEntries(plan.env), stdio });
  return {
    pid: child.pid!,
    outputs: [new StreamSource('stdout', child.stdout!), new StreamSource('stderr', child.stderr!)],
    input: child.stdin === null ? null : new StreamTarget(child.stdin),
    exit: waitForExit(child),
    resize: refuseResize,
  };
}

function refuseResize(): never {
  throw new Error('only a pty has a size');
}

function launchPty(plan: LaunchPlan, size: TerminalSize, cwd: string): StartedChild {
  if (plan.extraDescriptors.length > 0) throw new OsError(ENOTSUP, 'fork');
  checkTerminalSize(size);
  const name = choosePtyName(plan);
  const { binding, helperPath } = loadPtyBinding();
  const env = Array.from(plan.env, ([key, value]) => `${key}=${value}`);
  let reportExit: (status: ExitStatus) => void = () => {};
  const exit = new Promise<ExitStatus>((resolve) => {
    reportExit = resolve;
  });
  const onExit = (code: number, signal: number) => {
    source.childExited();
    reportExit(signal === 0 ? { kind: 'exited', code } : { kind: 'signaled', signal });
  };
  const child = binding.fork(
    name,
    plan.argv.slice(1),
    env,
    cwd,
    size.cols,
    size.rows,
    SAME_ID,
    SAME_ID,
    true,
    helperPath,
    onExit,
  );
  const slave = holdSlave(child);
  const target = new PtyTarget(child.fd);
  let open = true;
  const source = new PtySource(child.fd, slave, () => {
    open = false;
    target.end();
  });
  return {
    pid: child.pid,
    outputs: [source],
    input: target,
    exit,
    resize: ({ rows, cols }) => {
      checkTerminalSize({ rows, cols });
      if (!open) throw new OsError(EIO, 'ioctl');
      binding.resize(child.fd, cols, rows);
    },
  };
}

function holdSlave(child: { readonly fd: number; readonly pid: number; readonly pty: string }): number {
  try {
    return openSync(child.pty, constants.O_RDWR | constants.O_NOCTTY);
  } catch (error) {
    process.kill(-child.pid, 'SIGKILL');
    closeSync(child.fd);
    throw toOsError(error, 'open');
  }
}

function startGuardian(): GuardianProcess {
  const child = startChild(GUARDIAN_PROGRAM, guardianArgv({ cgroupHome: null, markPrefix: null }), {
    cwd: '/',
    env: {},
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child.unref();
  return {
    pid: child.pid!,
    input: new StreamTarget(child.stdin!),
    exit: waitForExit(child),
    kill: () => void child.kill('SIGKILL'),
  };
}

function startChild(
  program: string,
  argv: readonly string[],
  options: { cwd: string; env: NodeJS.ProcessEnv; stdio: ('pipe' | 'ignore' | number)[] },
): ChildProcess {
  let child: ChildProcess;
  try {
    const argv0 = argv[0] === undefined ? {} : { argv0: argv[0] };
    child = spawn(program, argv.slice(1), { ...options, ...argv0, detached: true });
  } catch (error) {
    throw toOsError(error, 'spawn');
  }
  // The reason comes as an event, too late for a caller that waits; the ones that the plan itself can have were checked.
  child.on('error', () => {});
  if (child.pid === undefined) throw new OsError(EAGAIN, 'spawn');
  return child;
}

function waitForExit(child: ChildProcess): Promise<ExitStatus> {
  return new Promise((resolve) => {
    child.on('exit', (code, signal) => {
      if (code !== null) resolve({ kind: 'exited', code });
      else if (signal !== null) resolve({ kind: 'signaled', signal: os.signals[signal] });
      else resolve({ kind: 'unknown', reason: 'the exit of the child has neither a code nor a signal' });
    });
  });
}

function signalGroup(leader: number, signal: number): boolean {
  try {
    return process.kill(-leader, signal);
  } catch (error) {
    const failure = toOsError(error, 'kill');
    if (failure.errno === ESRCH) return false;
    throw failure;
  }
}
