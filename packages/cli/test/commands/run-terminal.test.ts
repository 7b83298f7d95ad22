import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { DEFAULT_DEADLINE_MS, requireProgram } from '@exec-server/testing';
import { expect, onTestFinished, test, vi } from 'vitest';
import { listen, makeDirectory } from '../command-support.js';

const COMMAND = `${process.execPath} ${fileURLToPath(new URL('../../bin/exec-server.js', import.meta.url))}`;

/** Time between two looks at a screen, in milliseconds. */
const LOOK_INTERVAL_MS = 100;

/** What a shell asks with, of root and of others. */
const PROMPT = /^[#$]/m;

const directory = makeDirectory();

/** A terminal that a test types at and looks at: a window of tmux with a shell in it. */
class Terminal {
  private constructor(
    private readonly tmux: string,
    private readonly socket: string,
  ) {}

  static async open(tmux: string, name: string, env: Readonly<Record<string, string>>): Promise<Terminal> {
    const terminal = new Terminal(tmux, join(directory, name));
    const variables = Object.entries(env).flatMap(([key, value]) => ['-e', `${key}=${value}`]);
    await terminal.#call('-f', '/dev/null', 'new-session', '-d', '-x', '90', '-y', '25', ...variables, 'sh');
    onTestFinished(async () => void (await terminal.#call('kill-server')));
    // What is typed before the shell has asked would stand on the screen in front of the prompt.
    await terminal.untilShown(PROMPT);
    return terminal;
  }

  type(...keys: readonly string[]): Promise<string> {
    return this.#call('send-keys', ...keys);
  }

  resize(columns: number, rows: number): Promise<string> {
    return this.#call('resize-window', '-x', String(columns), '-y', String(rows));
  }

  /** Waits until the screen shows it, and types the keys, if any, before each look. */
  async untilShown(pattern: RegExp, keys: readonly string[] = []): Promise<void> {
    const look = async () => {
      if (keys.length > 0) await this.type(...keys);
      expect(await this.#call('capture-pane', '-p')).toMatch(pattern);
    };
    await vi.waitFor(look, { timeout: DEFAULT_DEADLINE_MS, interval: LOOK_INTERVAL_MS });
  }

  async #call(...args: readonly string[]): Promise<string> {
    return (await promisify(execFile)(this.tmux, ['-S', this.socket, ...args])).stdout;
  }
}

test('vim on a terminal: keys, sizes and the end, after which the shell has its terminal back', async (context) => {
  const tmux = requireProgram('tmux', context);
  const vim = requireProgram('vim', context);
  const file = join(directory, 'written-by-vim');
  const terminal = await Terminal.open(tmux, 'vim', { EXEC_SERVER_URL: await listen() });
  await terminal.type(`${COMMAND} run -t -- ${vim} -u NONE -N ${file}; echo "code=$?"`, 'Enter');
  await terminal.untilShown(/^~$/m);
  await terminal.type('ihello', 'Space', 'wörld', 'Escape', ':set columns? lines?', 'Enter');
  await terminal.untilShown(/columns=90\n +lines=25/);
  await terminal.type('Enter');
  await terminal.resize(70, 20);
  // The new size and the keys do not take the same way, so that the first answer may be the old one.
  await terminal.untilShown(/columns=70\n +lines=20/, ['Escape', ':set columns? lines?', 'Enter']);
  await terminal.type('Enter', ':wq', 'Enter');
  await terminal.untilShown(/^code=0$/m);
  expect(readFileSync(file, 'utf8')).toBe('hello wörld\n');
  await terminal.type('stty -a | tr -s "; " "\\n" | grep -x -e icanon -e echo -e isig', 'Enter');
  await terminal.untilShown(/^isig\nicanon\necho$/m);
});

test('Ctrl-C on a terminal is a key like any other', async (context) => {
  const terminal = await Terminal.open(requireProgram('tmux', context), 'interrupt', {});
  await terminal.type(
    `${COMMAND} run -t -- sh -c 'trap "echo caught; exit 3" INT; echo ready; cat'; echo "code=$?"`,
    'Enter',
  );
  await terminal.untilShown(/^ready$/m);
  await terminal.type('C-c');
  await terminal.untilShown(/^\^Ccaught\ncode=3$/m);
});

test('a command that is told to end gives the terminal back as it was', async (context) => {
  const terminal = await Terminal.open(requireProgram('tmux', context), 'ended', {});
  const pidFile = join(directory, 'pid');
  const inner = `sh -c 'printf "\\033[?1049h"; echo ready; exec sleep 60'`;
  await terminal.type(
    `echo before; sh -c 'echo $$ > ${pidFile}; exec "$@"' sh ${COMMAND} run -t -- ${inner}; echo "code=$?"`,
    'Enter',
  );
  await terminal.untilShown(/^ready$/m);
  process.kill(Number(readFileSync(pidFile, 'utf8')), 'SIGTERM');
  await terminal.untilShown(/^before$[\s\S]*^code=143$/m);
  await terminal.type('stty -a | tr -s "; " "\\n" | grep -x -e icanon -e echo', 'Enter');
  await terminal.untilShown(/^icanon\necho$/m);
});
