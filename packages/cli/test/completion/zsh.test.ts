import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { requireProgram } from '@exec-server/testing';
import { expect, it } from 'vitest';
import { ShellSession } from './shell-session.js';

it('completes what is typed', async (test) => {
  const zsh = requireProgram('zsh', test);
  const setUp = 'autoload -Uz compinit && compinit -u -D';
  const session = await ShellSession.open([zsh, '-f', '-i'], 'zsh', setUp);
  mkdirSync(join(session.directory, 'only here'));
  expect(await session.complete('exec-server comp\tfi\t')).toBe('completion fish');
  expect(await session.complete('exec-server tok\t--fi\tscr\t')).toBe('token --file=script');
  expect(await session.complete('exec-server serve --log-lev\tdeb\t')).toBe('serve --log-level=debug');
  expect(await session.complete('exec-server --log-form\tpre\t')).toBe('--log-format=pretty');
  expect(await session.complete('exec-server help do\t')).toBe('help doctor');
  expect(await session.complete('exec-server ls -l on\t')).toBe('ls -l only here');
  expect(await session.complete('exec-server doctor on\t')).toBe('doctor on');
});
