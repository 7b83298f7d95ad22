import { mkdirSync, readFileSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import type { LaunchedProcess, LaunchPlan } from '../../../src/native/launch.js';
import { createLauncher } from '../../../src/native/launcher.js';
import { launchPrepared, type Preparation } from '../../../src/sandbox/program/launch-prepared.js';
import { NOBODY, requireCgroups, requireRoot } from '../../support/cgroups.js';
import { requireSandboxProgram } from '../../support/run-plan.js';

beforeEach((test) => requireSandboxProgram(test));

function planShell(script: string, changes: Partial<LaunchPlan> = {}): LaunchPlan {
  return {
    program: '/bin/sh',
    argv: ['renamed', '-c', script],
    cwd: Buffer.from('/usr'),
    env: new Map([['PATH', '/usr/bin:/bin']]),
    stdio: { kind: 'pipes', stdin: 'null' },
    extraDescriptors: [],
    ...changes,
  };
}

async function start(preparation: Preparation, plan: LaunchPlan): Promise<LaunchedProcess> {
  const launcher = createLauncher({ cgroups: false });
  onTestFinished(() => launcher.close());
  return launchPrepared(launcher, plan, preparation);
}

/** What a program wrote, when it has ended. */
async function outputOf(launched: LaunchedProcess): Promise<string> {
  const outputs = launched.outputs.map((source) => {
    const stream = new Readable({ read: () => {} });
    source.start(
      (chunk) => stream.push(chunk),
      () => stream.push(null),
    );
    return text(stream);
  });
  return (await Promise.all(outputs)).join('');
}

it('is the program itself: its number, name, directory, environment, descriptors and end', async () => {
  const script =
    'echo "$$ $0 $(pwd) $(ls /proc/self/fd | tr "\\n" " ")"; env | cut -d= -f1 | sort; kill -USR1 $$';
  const launched = await start({}, planShell(script));
  expect(await outputOf(launched)).toBe(`${launched.pid} renamed /usr 0 1 2 3 \nPATH\nPWD\n`);
  expect(await launched.exit).toEqual({ kind: 'signaled', signal: 10 });
});

it('gets no new privileges', async () => {
  const launched = await start({ noNewPrivileges: true }, planShell('grep NoNewPrivs /proc/self/status'));
  expect(await outputOf(launched)).toBe('NoNewPrivs:\t1\n');
});

it('is another user, in his groups', async (test) => {
  requireRoot(test);
  const user = { uid: NOBODY, gid: NOBODY, groups: [7, 8] };
  const launched = await start({ user }, planShell('grep -E "^(Uid|Gid|Groups)" /proc/self/status'));
  const four = Array(4).fill(String(NOBODY)).join('\t');
  expect(await outputOf(launched)).toBe(`Uid:\t${four}\nGid:\t${four}\nGroups:\t7 8 \n`);
});

it('joins a cgroup that is not threaded', async (test) => {
  const group = join(requireCgroups(test), `exec-server-test-${process.pid}`);
  mkdirSync(group);
  onTestFinished(() => expect.poll(() => tryRemove(group)).toBe(true));
  const launched = await start({ cgroup: join(group, 'cgroup.procs') }, planShell('cat /proc/self/cgroup'));
  expect(readFileSync(join(group, 'cgroup.type'), 'utf8')).toBe('domain\n');
  expect(await outputOf(launched)).toContain(`exec-server-test-${process.pid}\n`);
  await launched.exit;
});

function tryRemove(directory: string): boolean {
  try {
    rmdirSync(directory);
    return true;
  } catch {
    return false;
  }
}

it.each([
  ['a program that is not there', {}, { program: '/no/such' }, 2],
  ['a file that cannot be executed', {}, { program: '/etc/passwd' }, 13],
  ['a cgroup that is not there', { cgroup: '/no/such' }, {}, 2],
  ['a directory that is not there', {}, { cwd: Buffer.from('/no/such') }, 2],
  ['an argument with a zero in it', {}, { argv: ['a\0done'] }, 22],
])('fails as without preparations: %s', async (_name, preparation, changes, errno) => {
  await expect(start(preparation, planShell('true', changes))).rejects.toMatchObject({
    name: 'OsError',
    errno,
  });
});

it('has its terminal', async () => {
  const launched = await start(
    { noNewPrivileges: true },
    planShell('tty; stty size', { stdio: { kind: 'pty', rows: 10, cols: 20 } }),
  );
  expect(await outputOf(launched)).toMatch(/^\/dev\/pts\/\d+\r\n10 20\r\n$/);
});
