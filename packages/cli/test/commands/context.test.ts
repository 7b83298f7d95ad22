import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeDirectoryOutsideTemp } from '@exec-server/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { listen, makeDirectory, runCommand } from '../command-support.js';
import { FakeIo } from '../support.js';

const directory = makeDirectory();

/** Commands of somebody with contexts of their own. */
function openHome(variables: Record<string, string> = {}) {
  const home = mkdtempSync(join(directory, 'home-'));
  return (...args: string[]) => {
    const io = new FakeIo();
    Object.assign(io.env, { XDG_CONFIG_HOME: home }, variables);
    return runCommand(args, io);
  };
}

describe('contexts', () => {
  it('name servers for every command', async () => {
    const [one, two] = [await listen(), await listen()];
    const command = openHome();
    expect(await command('context', 'add', 'one', '--connect', one)).toEqual({
      code: 0,
      stdout: '',
      stderr: '',
    });
    await command('context', 'add', 'two', '--connect', two, '--use');
    await command('run', '-d', '--id', 'a', '--on', 'one', '--', 'sleep', '60');
    await command('run', '-d', '--id', 'b', '--', 'sleep', '60');
    expect((await command('ps', '-q', '--on', 'one')).stdout).toBe('a\n');
    expect((await command('ps', '-q')).stdout).toBe('b\n');
    expect((await command('ps', '-q', '--connect', one)).stdout).toBe('a\n');
    await command('context', 'use', 'one');
    expect((await command('ps', '-q')).stdout).toBe('a\n');
    await command('context', 'use');
    expect((await command('ps', '-q')).stdout).toBe('');
  });

  it('are chosen by variables, of which a URL wins', async () => {
    const [one, two] = [await listen(), await listen()];
    const variables: Record<string, string> = {};
    const command = openHome(variables);
    await command('context', 'add', 'one', '--connect', one);
    await command('run', '-d', '--id', 'a', '--on', 'one', '--', 'sleep', '60');
    variables.EXEC_SERVER_CONTEXT = 'one';
    expect((await command('ps', '-q')).stdout).toBe('a\n');
    variables.EXEC_SERVER_URL = two;
    expect((await command('ps', '-q')).stdout).toBe('');
    expect((await command('ps', '-q', '--on', 'one')).stdout).toBe('a\n');
  });

  it('are listed and forgotten', async () => {
    const command = openHome();
    await command('context', 'add', 'box', '--connect', 'wss://box.example', '--token-file', '/t', '--use');
    const listed = await command('context', 'list');
    expect(listed.stdout).toMatch(/^NAME +USED +URL +TOKEN\nbox +yes +wss:\/\/box.example +\/t\n$/);
    expect(JSON.parse((await command('context', 'ls', '--json')).stdout)).toEqual([
      { name: 'box', current: true, url: 'wss://box.example', tokenFile: '/t', tlsCa: null },
    ]);
    expect((await command('context', 'rm', 'box')).code).toBe(0);
    expect((await command('context', 'list')).stdout).toBe('NAME  USED  URL  TOKEN\n');
    expect(await command('context', 'rm', 'box')).toMatchObject({ code: 1 });
    expect(await command('context', 'use', 'box')).toMatchObject({ code: 1 });
  });

  it.each([
    [['context', 'add', 'a/b', '--connect', 'ws://x'], "invalid name 'a/b'"],
    [['context', 'add', 'a', '--connect', 'http://x'], "invalid value 'http://x'"],
    [['context', 'add', 'a'], '--connect'],
    [['ps', '--on', 'a', '--connect', 'ws://x'], "'--on <NAME>' cannot be used with"],
  ])('%j is refused', async (args, message) => {
    const { code, stderr } = await openHome()(...args);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });

  it('that are not there are told', async () => {
    const { code, stderr } = await openHome()('ps', '--on', 'nobody');
    expect(code).toBe(1);
    expect(stderr).toContain('there is no context `nobody`');
  });
});

describe('run', () => {
  it('takes variables from a file, over which -e wins', async () => {
    const file = join(directory, 'env');
    writeFileSync(file, `# comment\n\nA=1\nexport B = no\n`);
    expect(await openHome()('run', '--env-file', file, '--', 'true')).toMatchObject({
      code: 125,
      stderr: expect.stringContaining(`line 4 of ${file} is no KEY=VALUE`),
    });
    writeFileSync(
      file,
      `A=1\nexport B='two words # $A'\nC="a\\nb \\"c\\""\n D = x\n`.replace(' D = x', 'D= x '),
    );
    const script = 'printf "%s|" "$A" "$B" "$C" "$D"';
    const { stdout } = await openHome()('run', '--env-file', file, '-e', 'A=9', '--', 'sh', '-c', script);
    expect(stdout).toBe('9|two words # $A|a\nb "c"|x|');
  });

  it('confines a command', async () => {
    const { path, remove } = makeDirectoryOutsideTemp();
    onTestFinished(remove);
    const outside = join(path, 'not-written');
    const script = `( : > '${outside}' ) 2>/dev/null && echo written; echo done`;
    const run = (...flags: string[]) => openHome()('run', ...flags, '--', 'sh', '-c', script);
    expect((await run('--sandbox', 'read-only')).stdout).toBe('done\n');
    expect((await run('--sandbox', 'workspace-write', '--network', 'on', '-w', '/tmp')).stdout).toBe(
      'done\n',
    );
    expect((await run('--network', 'on')).stderr).toContain("needs '--sandbox <POLICY>'");
  });

  it('passes what follows the program on', async () => {
    expect((await openHome()('run', 'echo', '--env-file', 'x')).stdout).toBe('--env-file x\n');
  });
});

it('shell runs a script of stdin in a login shell', async () => {
  const io = new FakeIo();
  io.stdin.end('echo "from a shell"; exit 4\n');
  expect(await runCommand(['shell', '-w', '/'], io)).toMatchObject({ code: 4, stdout: 'from a shell\n' });
});
