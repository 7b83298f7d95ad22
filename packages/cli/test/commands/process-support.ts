import { runCommandLine } from '../../src/run-command-line.js';
import { listen, runCommand } from '../command-support.js';
import { FakeIo } from '../support.js';

/** Resolves when the text has been written there. */
export async function untilSaid({ stdout }: FakeIo, text: string): Promise<void> {
  while (!stdout.text.includes(text)) await new Promise((resolve) => stdout.once('said', resolve));
}

/** A server that ends with the test, and commands that talk to it, each in a session of its own. */
export async function openSessions() {
  const url = await listen();
  return {
    url,
    /** Runs one command to its end. */
    command: (name: string, args: readonly string[], io?: FakeIo) =>
      runCommand([name, '--connect', url, ...args], io),
    /** Resolves when a process has written the text. */
    untilWritten: async (id: string, text: string) => {
      const io = new FakeIo();
      const watching = runCommandLine(['attach', '--view', '--connect', url, id], io);
      await Promise.race([untilSaid(io, text), watching]);
    },
    /** Leaves a process running whose stdin stays open. */
    start: async (id: string, script: string, ...flags: readonly string[]) => {
      const args = ['-d', '-i', '--id', id, ...flags, 'sh', '-c', script];
      const { code, stderr } = await runCommand(['run', '--connect', url, ...args]);
      if (code !== 0) throw new Error(stderr);
    },
  };
}
