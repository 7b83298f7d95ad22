import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import type { StdioTarget } from '../dial/target.js';
import { settlesWithin } from './settles-within.js';

/** Time for a server to end after SIGTERM, before it is killed. */
export const TERMINATE_GRACE_MS = 2_000;

/** How long the last words on stderr may come after the end of the server. */
const LAST_WORDS_MS = 250;

/** End of its stderr that is kept for the error, in UTF-16 units. */
const MAX_LAST_WORDS = 2_000;

/** Servers to end with this process. */
const running = new Set<SpawnedServer>();

function endAllAtExit(): void {
  for (const server of running) server.signal('SIGTERM');
}

/** A server that this process has started, in a process group of its own. */
export class SpawnedServer {
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** Settles when the server has ended, and what was left of its group is killed. Never rejects. */
  readonly exited: Promise<void>;
  readonly #child: ChildProcess;
  #lastWords = '';
  #terminating: Promise<void> | undefined;

  /** Rejects when the program cannot be started. */
  static async start(target: StdioTarget): Promise<SpawnedServer> {
    const [program = '', ...args] = target.command;
    const child = spawn(program, args, spawnOptions(target));
    // Tells also of a program that is not there.
    await once(child, 'spawn');
    return new SpawnedServer(child, target.stderr);
  }

  private constructor(child: ChildProcess, stderr: StdioTarget['stderr']) {
    const { stdin, stdout } = child;
    if (stdin === null || stdout === null) throw new Error('a spawned server has pipes');
    this.#child = child;
    this.stdin = stdin;
    this.stdout = stdout;
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#lastWords = (this.#lastWords + text).slice(-MAX_LAST_WORDS);
      if (typeof stderr === 'function') stderr(text);
    });
    this.exited = once(child, 'exit').then(() => {
      this.signal('SIGKILL');
      forget(this);
    });
    remember(this);
  }

  /** How it ended and what it said last; `undefined` while it runs. */
  async describeEnd(): Promise<string | undefined> {
    const { exitCode, signalCode, stderr } = this.#child;
    if (exitCode === null && signalCode === null) return undefined;
    // Others may hold its stderr open for good.
    if (stderr !== null && !stderr.closed) await settlesWithin(once(stderr, 'close'), LAST_WORDS_MS);
    const how = signalCode === null ? `with code ${exitCode}` : `by ${signalCode}`;
    const words = this.#lastWords.trim();
    return `the server ended ${how}${words === '' ? '' : `: ${words}`}`;
  }

  /** Signals the whole group, also when its first process has gone. */
  signal(signal: NodeJS.Signals): void {
    const { pid } = this.#child;
    if (pid === undefined) return;
    try {
      // Windows has no groups; there the child is all that can be reached.
      if (process.platform === 'win32') this.#child.kill(signal);
      else process.kill(-pid, signal);
    } catch {
      // Nobody is left in it.
    }
  }

  /** Ends the server and its group: SIGTERM, two seconds, SIGKILL. Resolves when it has ended. */
  terminate(): Promise<void> {
    this.#terminating ??= this.#terminate();
    return this.#terminating;
  }

  async #terminate(): Promise<void> {
    this.signal('SIGTERM');
    if (!(await settlesWithin(this.exited, TERMINATE_GRACE_MS))) this.signal('SIGKILL');
    await this.exited;
  }
}

function spawnOptions({ cwd, env, stderr }: StdioTarget): SpawnOptions {
  return {
    detached: true,
    stdio: ['pipe', 'pipe', stderr === 'inherit' ? 'inherit' : 'pipe'],
    windowsHide: true,
    env: { ...process.env, ...env },
    ...(cwd !== undefined && { cwd }),
  };
}

function remember(server: SpawnedServer): void {
  if (running.size === 0) process.on('exit', endAllAtExit);
  running.add(server);
}

function forget(server: SpawnedServer): void {
  running.delete(server);
  if (running.size === 0) process.off('exit', endAllAtExit);
}
