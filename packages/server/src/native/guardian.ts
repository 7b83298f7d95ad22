import type { Logger } from '../telemetry/logger.js';
import { GUARDIAN_SCRIPT } from './guardian-script.js';
import type { ExitStatus, InputTarget } from './launch.js';

/** A running guardian shell. */
export interface GuardianProcess {
  readonly pid: number;
  /** `busy` while bytes of a write wait for the shell to read. */
  readonly input: InputTarget & { readonly busy: boolean };
  readonly exit: Promise<ExitStatus>;
  /** Ends it without letting it act. */
  kill(): void;
}

export const GUARDIAN_PROGRAM = '/bin/sh';

/** Whom a guardian ends beside those it is told of. */
export interface GuardianWard {
  /** The cgroup in which everybody is ended, and which is removed then. */
  readonly cgroupHome: string | null;
  /** The first digits of the marks that those bear who are ended. */
  readonly markPrefix: number | null;
}

export function guardianArgv({ cgroupHome, markPrefix }: GuardianWard): readonly string[] {
  // The name in the middle is what `ps` shows it by.
  return ['sh', '-c', GUARDIAN_SCRIPT, 'exec-server-guardian', cgroupHome ?? '', String(markPrefix ?? '')];
}

/** Most that waits for a guardian that does not read, in bytes; one that is further behind is replaced. */
const MAX_BACKLOG_BYTES = 262_144;
/** Delay before a guardian that ended is started again; doubles while it ends early. */
const MIN_RESTART_MS = 50;
const MAX_RESTART_MS = 10_000;

/**
 * Ends the children of a server that was killed. A tiny shell holds the other side of a pipe and is told every session
 * leader; when the pipe ends, because this process ended in whatever way, it kills what is left of them.
 *
 * A leader is told before `add` returns, as long as the shell keeps up. In the microseconds between the start of a child
 * and that write a killed server can leave the child behind, unless the child has a cgroup or a mark, which the shell finds
 * itself.
 */
export class Guardian {
  readonly #startProcess: () => GuardianProcess;
  readonly #logger: Logger;
  readonly #leaders = new Set<number>();
  #process: GuardianProcess | null = null;
  #backlog = '';
  #restartMs = MIN_RESTART_MS;
  #restartTimer: NodeJS.Timeout | null = null;
  #closed = false;

  constructor(start: () => GuardianProcess, logger: Logger) {
    this.#startProcess = start;
    this.#logger = logger;
  }

  /** The pid of the shell, while there is one. */
  get pid(): number | null {
    return this.#process?.pid ?? null;
  }

  /** Starts the shell unless it runs. Call it before a child is started: who bears a mark needs not be told of. */
  start(): void {
    if (this.#process === null && this.#restartTimer === null) this.#launch();
  }

  add(leader: number): void {
    this.#leaders.add(leader);
    if (this.#process !== null) this.#send(`+${leader}\n`);
    else this.start();
  }

  /** Call it when no process of the leader's session or group is left. */
  delete(leader: number): void {
    if (this.#leaders.delete(leader)) this.#send(`-${leader}\n`);
  }

  /** Ends the guardian, and through it what is left of every leader that was not deleted. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#restartTimer !== null) clearTimeout(this.#restartTimer);
    const guardian = this.#process;
    if (guardian === null) return;
    if (this.#leaders.size === 0) guardian.kill();
    guardian.input.close();
    // Neither the shell nor its pipe keeps the loop alive, and whoever waits here wants to see the end.
    const keepAlive = setInterval(() => {}, MAX_RESTART_MS);
    await guardian.exit;
    clearInterval(keepAlive);
  }

  #launch(): void {
    const startedAt = performance.now();
    let guardian: GuardianProcess;
    try {
      guardian = this.#startProcess();
    } catch (error) {
      this.#logger.warn({ error }, 'no guardian: children will outlive this server if it is killed');
      this.#restartLater();
      return;
    }
    this.#process = guardian;
    this.#backlog = '';
    void guardian.exit.then((status) => {
      guardian.input.close();
      if (this.#process !== guardian) return;
      this.#process = null;
      if (this.#closed) return;
      this.#logger.warn({ status }, 'the guardian ended');
      if (performance.now() - startedAt > MAX_RESTART_MS) this.#restartMs = MIN_RESTART_MS;
      this.#restartLater();
    });
    this.#send(Array.from(this.#leaders, (leader) => `+${leader}\n`).join(''));
  }

  #restartLater(): void {
    this.#restartTimer = setTimeout(() => {
      this.#restartTimer = null;
      if (this.#leaders.size > 0) this.#launch();
    }, this.#restartMs).unref();
    this.#restartMs = Math.min(this.#restartMs * 2, MAX_RESTART_MS);
  }

  #send(lines: string): void {
    if (this.#process === null) return;
    this.#backlog += lines;
    this.#flush(this.#process);
    if (this.#backlog.length > MAX_BACKLOG_BYTES) this.#replace(this.#process);
  }

  #flush(guardian: GuardianProcess): void {
    if (this.#backlog === '' || guardian.input.busy) return;
    const lines = Buffer.from(this.#backlog, 'latin1');
    this.#backlog = '';
    guardian.input.write(lines).then(
      () => {
        if (this.#process === guardian) this.#flush(guardian);
      },
      // It is dead or was replaced; its exit starts a new one, which is told everything.
      () => {},
    );
  }

  /** A new shell that is told the leaders of now is cheaper than the story of how they came about. */
  #replace(guardian: GuardianProcess): void {
    this.#logger.warn({ pid: guardian.pid }, 'the guardian does not keep up and is replaced');
    // Killed before its input ends, or it would take that for the end of this process.
    guardian.kill();
    guardian.input.close();
    this.#launch();
  }
}
