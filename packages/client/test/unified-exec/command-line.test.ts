import { describe, expect, test } from 'vitest';
import { toCommandLine } from '../../src/unified-exec/command-line.js';
import { openMachine } from '../support/machine.js';

async function lineOf(shell: string | undefined, login: boolean): Promise<readonly string[]> {
  const { client } = await openMachine();
  return toCommandLine(client, { cmd: 'echo hi', shell, login });
}

describe('a shell that is named', () => {
  test.each([
    ['bash', true, ['bash', '-lc', 'echo hi']],
    ['/bin/zsh', false, ['/bin/zsh', '-c', 'echo hi']],
    ['sh', false, ['sh', '-c', 'echo hi']],
    ['pwsh', true, ['pwsh', '-Command', 'echo hi']],
    ['C:\\Tools\\PwSh.exe', false, ['C:\\Tools\\PwSh.exe', '-NoProfile', '-Command', 'echo hi']],
    ['cmd.exe', true, ['cmd.exe', '/c', 'echo hi']],
  ])('%s, login %s', async (shell, login, argv) => {
    expect(await lineOf(shell, login)).toEqual(argv);
  });

  test.each(['fish', '/bin/cat', ''])('%j is no shell that is known here', async (shell) => {
    await expect(lineOf(shell, false)).rejects.toMatchObject({
      code: 'usage',
      message: `exec_command failed: unknown shell ${JSON.stringify(shell)}; use bash, zsh, sh, pwsh or cmd`,
    });
  });
});

test("otherwise it is the shell of the server's user", async () => {
  const machine = await openMachine();
  const { shell } = await machine.environment();
  const argv = await toCommandLine(machine.client, { cmd: 'echo hi', shell: undefined, login: true });
  expect(argv).toEqual([shell.path, '-lc', 'echo hi']);
});
