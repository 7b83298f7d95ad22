import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type PtyHandle } from '@exec-server/client';
import { createExecServer } from '@exec-server/server';
import { onTestFinished } from 'vitest';
import { runCommand } from '../command-support.js';

const PROMPT = 'ready> ';

/** A shell at a terminal that was told how to complete, and in which `exec-server` prints its arguments. */
export class ShellSession {
  readonly #lines: AsyncIterableIterator<string>;

  private constructor(
    private readonly terminal: PtyHandle,
    /** Where the shell is; empty but for the script. */
    readonly directory: string,
  ) {
    this.#lines = terminal.lines('stdout');
  }

  static async open(argv: readonly string[], shell: 'bash' | 'zsh', setUp: string): Promise<ShellSession> {
    const directory = mkdtempSync(join(tmpdir(), 'exec-server-completion-'));
    const server = createExecServer();
    const machine = await connect(server);
    onTestFinished(async () => {
      await machine.close();
      await server.close();
      rmSync(directory, { recursive: true, force: true });
    });
    writeFileSync(join(directory, 'script'), (await runCommand(['completion', shell])).stdout);
    const env = { HOME: directory, TERM: 'dumb', PS1: PROMPT };
    const terminal = await machine.pty(argv, { cwd: directory, env, cols: 200 });
    const session = new ShellSession(terminal, directory);
    await session.#run(`${setUp}; source ./script; exec-server() { echo "(args: $*)"; }; PS1='${PROMPT}'`);
    return session;
  }

  /** Types keys and a return, and says with which arguments the command was called. */
  async complete(keys: string): Promise<string> {
    await this.terminal.write(`${keys}\r`);
    return this.#readUntil(/^\(args: (.*)\)$/);
  }

  /** Types a line and waits until it was run. */
  async #run(line: string): Promise<void> {
    // In two parts, so that its echo does not count.
    await this.terminal.write(`${line}; echo al""ready\r`);
    await this.#readUntil(/^(already)$/);
  }

  async #readUntil(pattern: RegExp): Promise<string> {
    for (;;) {
      const { value, done } = await this.#lines.next();
      if (done === true) throw new Error('the shell has ended');
      const found = pattern.exec(value.trim())?.[1];
      if (found !== undefined) return found;
    }
  }
}
