import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { requireProgram } from '@exec-server/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { makeDirectory, runCommand } from '../command-support.js';
import { ShellSession } from './shell-session.js';

const directory = makeDirectory();
const script = join(directory, 'script');

beforeAll(async () => {
  writeFileSync(script, (await runCommand(['completion', 'bash'])).stdout);
});

/** What bash suggests behind the last of these words, as it has cut them. */
function suggestAfter(bash: string, ...words: string[]): string[] {
  const command = `source "$0"
    COMP_WORDS=(exec-server "$@"); COMP_CWORD=$#
    _exec_server; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const args = ['--norc', '--noprofile', '-c', command, script, ...words];
  return execFileSync(bash, args, { encoding: 'utf8' }).split('\n').filter(Boolean);
}

describe('suggests', () => {
  it.for<[string[], string[]]>([
    [['comp'], ['completion']],
    [['c'], ['cp', 'cat', 'context', 'completion']],
    [
      ['completion', ''],
      ['bash', 'zsh', 'fish'],
    ],
    [['help', 'tok'], ['token']],
    [['ls', '--j'], ['--json']],
    [['ls', '-l', '--token'], ['--token-file']],
    [['--log-l'], ['--log-level']],
    [['--log-level', 'd'], ['debug']],
    [
      ['serve', '--log-format', ''],
      ['json', 'pretty'],
    ],
    [
      ['serve', '--log-format', '='],
      ['json', 'pretty'],
    ],
    [['serve', '--log-format', '=', 'p'], ['pretty']],
    [['serve', '--cgroups', 't'], ['true']],
    [['--tls-cert', ''], []],
    [['--listen', 'ws'], []],
    [['cat', ''], []],
    [['run', '--', '--he'], []],
  ])('%j: %j', ([words, suggestions], test) => {
    expect(suggestAfter(requireProgram('bash', test), ...words)).toEqual(suggestions);
  });
});

it('completes what is typed', async (test) => {
  const bash = requireProgram('bash', test);
  const session = await ShellSession.open([bash, '--norc', '--noprofile', '-i'], 'bash', ':');
  mkdirSync(join(session.directory, 'only here'));
  expect(await session.complete('exec-server comp\tzs\t')).toBe('completion zsh');
  expect(await session.complete('exec-server serve --log-lev\tdeb\t')).toBe('serve --log-level debug');
  expect(await session.complete('exec-server ls on\t')).toBe('ls only here/');
  expect(await session.complete('exec-server doctor on\t')).toBe('doctor on');
});
