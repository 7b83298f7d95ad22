import { describe, expect, it } from 'vitest';
import { openMachine } from '../support/machine.js';

it('runs a script with its values as words', async () => {
  const machine = await openMachine();
  const nasty = `it's "$HOME" \`id\`; exit 9`;
  const result = await machine.shell`printf '%s|' ${nasty} ${['a b', 'c']} | cat`;
  expect(result.stdout.text()).toBe(`${nasty}|a b|c|`);
  expect(result.exitCode).toBe(0);
});

it('takes options first', async () => {
  const machine = await openMachine();
  const result = await machine.shell({
    cwd: '/usr',
    env: { WORD: 'hi' },
    input: 'in',
  })`pwd; echo "$WORD"; cat`;
  expect(result.stdout.text()).toBe('/usr\nhi\nin');
  await expect(machine.shell({ check: true })`exit 6`).rejects.toMatchObject({ code: 'exit' });
});

it("uses the shell of the server's user", async () => {
  const machine = await openMachine();
  const { shell } = await machine.environment();
  expect((await machine.shell`echo $0`).stdout.trimmed()).toBe(shell.path);
});

it('refuses what is no template', async () => {
  const machine = await openMachine();
  expect(() => (machine.shell as unknown as (command: string) => unknown)('rm -rf /')).toThrow(
    expect.objectContaining({ code: 'usage', message: expect.stringContaining('`sh`') }),
  );
});

describe('sh', () => {
  it('runs a command line, with options behind it, or a template', async () => {
    const machine = await openMachine();
    const piped = await machine.sh('echo "$WORD" | tr a-z A-Z; pwd', { cwd: '/usr', env: { WORD: 'hi' } });
    expect(piped.stdout.text()).toBe('HI\n/usr\n');
    const word = "it's";
    expect((await machine.sh`printf %s ${word}`).stdout.text()).toBe("it's");
    await expect(machine.sh('exit 6', { check: true })).rejects.toMatchObject({ code: 'exit' });
  });

  it('refuses what is neither', async () => {
    const machine = await openMachine();
    await expect(machine.sh(['ls'] as unknown as string)).rejects.toMatchObject({ code: 'usage' });
    await expect(machine.sh('true', { nonsense: 1 } as object)).rejects.toMatchObject({ code: 'usage' });
  });
});
