import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { JobSummary, RunJobOptions } from '../../src/run/job-run.js';

const PROGRAM = fileURLToPath(new URL('../fixtures/runner.mjs', import.meta.url));

/** A runner in a process of its own, which can be killed. */
export class RunnerProcess {
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;
  readonly #lines: AsyncIterator<string>;

  constructor(request: RunJobOptions | { readonly directory: string }) {
    this.#child = spawn(process.execPath, [PROGRAM, JSON.stringify(request)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.#exited = once(this.#child, 'exit');
    if (this.#child.stdout === null) throw new Error('a runner has a stdout');
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
  }

  /** The directory of its job, once the job runs; nothing where it was killed before. */
  async directory(): Promise<string | undefined> {
    const line = await this.#next();
    return line === undefined ? undefined : (JSON.parse(line) as { directory: string }).directory;
  }

  /** What the job came to; nothing where the runner was killed before. */
  async summary(): Promise<JobSummary | undefined> {
    const line = await this.#next();
    return line === undefined ? undefined : (JSON.parse(line) as JobSummary);
  }

  /** Resolves when it is gone: false where it had ended by itself. */
  async kill(): Promise<boolean> {
    this.#child.kill('SIGKILL');
    await this.#exited;
    return this.#child.signalCode === 'SIGKILL';
  }

  async #next(): Promise<string | undefined> {
    const { value, done } = await this.#lines.next();
    return done === true ? undefined : (value as string);
  }
}
