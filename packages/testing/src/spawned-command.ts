import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { archiveLog } from './log-archive.js';

/** How a command ended: exactly one of the two is set. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface CommandOptions {
  /** Program and its leading arguments. Default: the built command of this repository. */
  readonly command?: readonly string[];
  /** Arguments after `command`. Default: none. */
  readonly args?: readonly string[];
  /** The whole environment of the command. Default: that of the test. */
  readonly env?: NodeJS.ProcessEnv;
  /** Default: the working directory of the test. */
  readonly cwd?: string;
}

const BUILT_COMMAND = [
  process.execPath,
  fileURLToPath(new URL('../../cli/bin/exec-server.js', import.meta.url)),
] as const;

/** A command under test with its three streams; what it says on stderr is kept for failure texts. */
export class SpawnedCommand {
  /** Settles when the command has ended and its output is read to the end. */
  readonly exited: Promise<Exit>;
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #line: string;
  #stderr = '';

  constructor(options: CommandOptions) {
    const [program, ...leading] = options.command ?? BUILT_COMMAND;
    if (program === undefined) throw new Error('command must not be empty');
    const args = [...leading, ...(options.args ?? [])];
    this.#line = [program, ...args].join(' ');
    this.#child = spawn(program, args, {
      cwd: options.cwd,
      env: options.env ?? process.env,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.#child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr += text;
      archiveLog(this.#child.pid, text);
    });
    // A command that has gone makes a later write fail; `exited` is where that is told.
    this.#child.stdin.on('error', () => {});
    this.exited = once(this.#child, 'close').then(([code, signal]: unknown[]) => ({
      code: code as number | null,
      signal: signal as NodeJS.Signals | null,
    }));
    // Nobody has to await `exited`; `spawned` below tells a failed start.
    this.exited.catch(() => {});
  }

  get pid(): number {
    const { pid } = this.#child;
    if (pid === undefined) throw new Error(`${this.#line} did not start`);
    return pid;
  }

  get stdin(): Writable {
    return this.#child.stdin;
  }

  get stdout(): Readable {
    return this.#child.stdout;
  }

  /** What is written to stderr; it is kept for {@link stderr}, too. */
  get stderrStream(): Readable {
    return this.#child.stderr;
  }

  /** Everything written to stderr so far. */
  stderr(): string {
    return this.#stderr;
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Asks the command to end and waits until it has. */
  async stop(): Promise<Exit> {
    this.kill('SIGTERM');
    return this.exited;
  }

  /** An error that names the command, what went wrong, and what it said on stderr. */
  failure(what: string): Error {
    const said = this.#stderr.trim();
    return new Error(`${this.#line}: ${what}${said === '' ? '' : `\n${said}`}`);
  }
}
