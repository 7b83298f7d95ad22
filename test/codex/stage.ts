import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, watch } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { before, type RunningServer, startServer } from '@exec-server/testing';
import { onTestFinished } from 'vitest';

/** The directories of a test, empty at first and gone after it. */
export interface Stage {
  /** Where commands run. */
  readonly work: string;
  /** The CLI's own directory: its configuration and its records. */
  readonly codexHome: string;
  /** The whole environment of the server and of the CLI: nothing of the machine's user gets in. */
  readonly env: NodeJS.ProcessEnv;
}

const BUILT_COMMAND = fileURLToPath(new URL('../../packages/cli/bin/exec-server.js', import.meta.url));

/** Another server to test, such as the CLI's own: the model must see the same. */
const OTHER_COMMAND = process.env.CONFORMANCE_COMMAND?.split(' ');

/** Whether the server of this repository is under test. */
export const IS_OWN_SERVER = OTHER_COMMAND === undefined;

/** The server under test, without listener. */
export const SERVER_COMMAND = OTHER_COMMAND ?? [process.execPath, BUILT_COMMAND];

export function setStage(): Stage {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'codex-')));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const [work, home, codexHome] = ['work', 'home', 'codex-home'].map((name) => join(root, name)) as [
    string,
    string,
    string,
  ];
  for (const directory of [work, home, codexHome]) mkdirSync(directory);
  return { work, codexHome, env: { PATH: process.env.PATH, HOME: home, CODEX_HOME: codexHome } };
}

/** The server under test on a loopback port, until the test ends. */
export async function serve({ env }: Stage, ...args: string[]): Promise<RunningServer> {
  const server = await startServer({ command: SERVER_COMMAND, args, env });
  onTestFinished(async () => void (await server.stop()));
  return server;
}

/** Waits until a command of the test has made a file of that name in `directory`. */
export async function waitForFile(directory: string, name: string): Promise<void> {
  const path = join(directory, name);
  let check = () => {};
  const watcher = watch(directory, () => check());
  try {
    const made = new Promise<void>((resolve) => {
      check = () => existsSync(path) && resolve();
      // It may be older than the watch.
      check();
    });
    await before(made, () => new Error(`${path} was not made`));
  } finally {
    watcher.close();
  }
}
