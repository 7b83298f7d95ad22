import { expect, it } from 'vitest';
import { runCommand } from '../command-support.js';

it.each([
  ['bash', 'complete -o default -F _exec_server exec-server'],
  ['zsh', '#compdef exec-server'],
  ['fish', 'complete -c exec-server -f'],
])('prints a script for %s', async (shell, line) => {
  const { code, stdout, stderr } = await runCommand(['completion', shell]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout.split('\n')).toContain(line);
});

it('knows no other shells', async () => {
  const { code, stderr } = await runCommand(['completion', 'cmd']);
  expect(code).toBe(2);
  expect(stderr).toContain('bash, zsh, fish');
});
