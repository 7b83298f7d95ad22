import { expect, it } from 'vitest';
import { runCommand } from '../command-support.js';
import { openSessions } from './process-support.js';

it('lists what other sessions have started; those that have ended if asked to', async () => {
  const { command, start } = await openSessions();
  await start('alive', 'sleep 60', '--tag', 'role=web');
  await start('over', 'exit 3');
  await command('attach', ['over']);
  const { stdout } = await command('ps', []);
  expect(stdout).toMatch(
    /^ID +PID +STATE +AGE +TTY +TAGS +COMMAND\nalive +\d+ +running +\d+s +no +role=web +sh -c 'sleep 60'\n$/,
  );
  expect((await command('ps', ['--quiet'])).stdout).toBe('alive\n');
  expect((await command('ps', ['--quiet', '--tag', 'role=db'])).stdout).toBe('');
  const all = await command('ps', ['--all']);
  expect(all.stdout).toMatch(/^over +\d+ +exited 3 +\d+s +no +- +sh -c 'exit 3'$/m);
});

it('tells programs everything', async () => {
  const { command, start } = await openSessions();
  await start('over', 'exit 3', '-w', '/');
  await command('attach', ['over']);
  expect(JSON.parse((await command('ps', ['--json'])).stdout)).toEqual([]);
  const [listed] = JSON.parse((await command('ps', ['-a', '--json'])).stdout) as unknown[];
  expect(listed).toEqual({
    id: 'over',
    sessionId: expect.any(String),
    pid: expect.any(Number),
    state: 'closed',
    exitCode: 3,
    signal: null,
    timedOut: false,
    argv: ['sh', '-c', 'exit 3'],
    cwd: '/',
    tty: false,
    tags: {},
    startedAt: expect.stringMatching(/^\d{4}-.*Z$/),
    cursor: 2,
    spill: null,
    outputEvicted: false,
  });
});

it('says that a server of its own has nothing to show', async () => {
  const { code, stdout, stderr } = await runCommand(['ps']);
  expect({ code, lines: stdout.split('\n').length }).toEqual({ code: 0, lines: 2 });
  expect(stderr).toContain('give --connect URL or set EXEC_SERVER_URL');
});
