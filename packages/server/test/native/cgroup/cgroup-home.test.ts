import { randomUUID } from 'node:crypto';
import {
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmdirSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { type SkippableTest, skipFor } from '@exec-server/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createThreadedGroup, enterGroup, listGroups } from '../../../src/native/cgroup/cgroup-files.js';
import { CgroupHome, probeCgroups } from '../../../src/native/cgroup/cgroup-home.js';
import { killCgroups } from '../../../src/native/cgroup/kill-cgroups.js';
import { MAX_SPARE_GROUPS } from '../../../src/native/cgroup/spare-groups.js';
import { createLauncher } from '../../../src/native/launcher.js';
import { silentLogger } from '../../../src/telemetry/logger.js';
import { asNobody, NOBODY, requireCgroups, requireRoot } from '../../support/cgroups.js';
import { PTY, planOf, run, shell } from '../launch-helper.js';

const ENOENT = 2;
const EACCES = 13;
const IMPOSSIBLE_PID = 2 ** 22 + 1;
/** Most descriptors that a test can take all of. */
const MOST_DESCRIPTORS = 65_536;

function openLauncher(options: Parameters<typeof createLauncher>[0] = {}) {
  const launcher = createLauncher({ guardian: false, ...options });
  onTestFinished(() => launcher.close());
  return launcher;
}

const ownThread = () => readFileSync('/proc/thread-self/cgroup', 'utf8').match(/^0::.*/m)?.[0];

/** Runs the rest of the test with this process in a new group, as a service manager would start it. */
function enterNewGroup(test: SkippableTest): string {
  const parent = requireCgroups(test);
  const group = join(parent, `test-${randomUUID()}`);
  mkdirSync(group);
  try {
    writeFileSync(join(group, 'cgroup.procs'), String(process.pid));
  } catch {
    // Beside groups of threads, as another server has them, only the root of all groups takes one of processes.
    rmdirSync(group);
    return skipFor(test, 'a cgroup of processes');
  }
  onTestFinished(() => {
    writeFileSync(join(parent, 'cgroup.procs'), String(process.pid));
    rmdirSync(group);
  });
  return group;
}

describe('the cgroup of a child', () => {
  it.for([
    ['pipes', {}],
    ['a pty', { stdio: PTY }],
  ] as const)(
    'holds a child on %s from its first instruction, and this process not after',
    async ([, changes], test) => {
      requireCgroups(test);
      const before = ownThread();
      const child = run(openLauncher(), planOf('/bin/cat', ['/proc/self/cgroup'], changes));
      expect(ownThread()).toBe(before);
      await child.done;
      const [, group] = child.text().match(/^0::(.*?)\r?$/m)!;
      expect(child.child.cgroup!.path.endsWith(`${group}`)).toBe(true);
      expect(basename(group!)).toBe('1');
    },
  );

  it('does not exist for a program that cannot be started, whose error is told as ever', (test) => {
    requireCgroups(test);
    const home = new CgroupHome(silentLogger);
    onTestFinished(() => home.close());
    const before = ownThread();
    expect(() =>
      home.startInGroup(() => {
        expect(ownThread()).not.toBe(before);
        throw new Error('cannot be started');
      }),
    ).toThrow('cannot be started');
    expect(ownThread()).toBe(before);
    expect(listGroups(home.path)).toEqual([]);
    const launcher = openLauncher();
    const thrown = (path: string, errno: number) =>
      expect(() => launcher.launch(planOf(path, []))).toThrow(expect.objectContaining({ errno }));
    thrown('/nowhere/program', ENOENT);
    thrown('/etc/passwd', EACCES);
  });

  it('stays for what the child left in it, and is removed when that has ended', async (test) => {
    requireCgroups(test);
    const left = 'setsid sh -c "echo pid \\$\\$.; exec >/dev/null 2>&1; exec sleep 300" & sleep 0.01';
    const child = run(openLauncher(), shell(left));
    const [, pid] = await child.waitFor(/pid (\d+)\./);
    const { cgroup, gone } = child.child;
    await child.done;
    expect(cgroup!.populated).toBe(true);
    expect(cgroup!.readThreads()).toEqual([Number(pid)]);
    // A turn after the end has been told it is decided whether the group can serve another child.
    await new Promise(setImmediate);
    process.kill(Number(pid), 'SIGKILL');
    // What looks for leftovers does not keep the loop alive.
    const keepAlive = setInterval(() => {}, 1_000);
    await gone;
    clearInterval(keepAlive);
    expect(existsSync(cgroup!.path)).toBe(false);
  });

  it('is removed with the groups that a program made in it', (test) => {
    requireCgroups(test);
    const home = new CgroupHome(silentLogger);
    onTestFinished(() => home.close());
    const { cgroup } = home.startInGroup(() => 0);
    mkdirSync(join(cgroup!.path, 'own', 'deeper'), { recursive: true });
    home.reapedLeader(cgroup!);
    expect(existsSync(cgroup!.path)).toBe(false);
  });

  it('leaves no directory behind, after a thousand starts either', async (test) => {
    requireCgroups(test);
    const launcher = openLauncher();
    let home = '';
    for (let round = 0; round < 1_000; round += 20) {
      const children = Array.from({ length: 20 }, () => run(launcher, planOf('/bin/true', [])));
      home = join(children[0]!.child.cgroup!.path, '..');
      await Promise.all(children.map(({ child, done }) => Promise.all([done, child.cgroup!.emptied])));
    }
    expect(listGroups(home).length).toBeLessThanOrEqual(MAX_SPARE_GROUPS);
    await launcher.close();
    expect(existsSync(home)).toBe(false);
  });

  it('ends with the launcher, and with it whoever is in it', async (test) => {
    requireCgroups(test);
    const launcher = openLauncher();
    const child = run(launcher, shell('trap "" TERM HUP; sleep 300'));
    await launcher.close();
    expect(await child.done).toEqual({ kind: 'signaled', signal: 9 });
    expect(existsSync(join(child.child.cgroup!.path, '..'))).toBe(false);
  });
});

describe('the cgroup of a launcher', () => {
  it('can be in the group of a process of another one, and ends with that', async (test) => {
    requireCgroups(test);
    const outer = new CgroupHome(silentLogger);
    onTestFinished(() => outer.close());
    const { started: child, cgroup } = outer.startInGroup(() =>
      run(openLauncher(), planOf('/bin/sleep', ['300'])),
    );
    expect(child.child.cgroup!.path.startsWith(`${cgroup!.path}/`)).toBe(true);
    expect(cgroup!.readThreads()).toEqual([child.child.pid]);
    await killCgroups([cgroup!]);
    expect(await child.done).toEqual({ kind: 'signaled', signal: 9 });
  });

  it('is left when no descriptor is left to open', (test) => {
    requireCgroups(test);
    const limits = readFileSync('/proc/self/limits', 'utf8');
    const limit = Number(/Max open files +(\d+)/.exec(limits)![1]);
    if (limit > MOST_DESCRIPTORS) skipFor(test, 'a limit of descriptors that it can reach');
    const home = new CgroupHome(silentLogger);
    onTestFinished(() => home.close());
    const before = ownThread();
    const held: number[] = [];
    const { cgroup } = home.startInGroup(() => {
      expect(() => {
        for (;;) held.push(openSync('/dev/null', 'r'));
      }).toThrow(expect.objectContaining({ code: 'EMFILE' }));
    });
    expect(home.startInGroup(() => {}).cgroup).toBeNull();
    for (const fd of held) closeSync(fd);
    expect(ownThread()).toBe(before);
    expect(home.startInGroup(() => {}).cgroup).not.toBeNull();
    home.reapedLeader(cgroup!);
  });

  it('can be in any group, not only in that of the whole system', async (test) => {
    const group = enterNewGroup(test);
    const launcher = openLauncher();
    const child = run(launcher, shell('sleep 300 & sleep 300'));
    expect(child.child.cgroup!.path.startsWith(`${group}/exec-server-${process.pid}-`)).toBe(true);
    await launcher.close();
    await child.done;
    expect(listGroups(group)).toEqual([]);
  });

  it('needs no more rights than those over the own group', (test) => {
    const group = enterNewGroup(test);
    requireRoot(test);
    for (const file of ['', 'cgroup.procs', 'cgroup.threads']) chownSync(join(group, file), NOBODY, NOBODY);
    expect(asNobody(() => probeCgroups())).toEqual({ usable: true, directory: group });
    expect(listGroups(group)).toEqual([]);
  });

  it('is done without where this process may not make one', async (test) => {
    requireCgroups(test);
    requireRoot(test);
    expect(asNobody(() => probeCgroups())).toMatchObject({
      usable: false,
      reason: expect.stringContaining('EACCES'),
    });
    const messages: string[] = [];
    const logger = { ...silentLogger, debug: (_: object, message: string) => messages.push(message) };
    const child = run(
      asNobody(() => openLauncher({ logger })),
      shell('exit 7'),
    );
    expect(await child.done).toEqual({ kind: 'exited', code: 7 });
    expect(child.child.cgroup).toBeNull();
    expect(messages).toEqual([expect.stringContaining('no cgroups')]);
  });

  it('is done without when that is asked for', async () => {
    const child = run(openLauncher({ cgroups: false }), shell('exit 7'));
    expect(await child.done).toEqual({ kind: 'exited', code: 7 });
    expect(child.child.cgroup).toBeNull();
  });

  it('has children start all the same when it has vanished, and says so once', async (test) => {
    requireCgroups(test);
    const messages: string[] = [];
    const logger = { ...silentLogger, warn: (_: object, message: string) => messages.push(message) };
    const home = new CgroupHome(logger);
    rmdirSync(home.path);
    expect(home.startInGroup(() => 5)).toEqual({ started: 5, cgroup: null });
    expect(home.startInGroup(() => 6)).toEqual({ started: 6, cgroup: null });
    expect(messages).toHaveLength(1);
    await home.close();
  });

  it('is removed by the next one when its server is no more, unless somebody is in it', async (test) => {
    const parent = enterNewGroup(test);
    const abandoned = join(parent, `exec-server-${IMPOSSIBLE_PID}-1-ab`);
    mkdirSync(join(abandoned, '3'), { recursive: true });
    const living = new CgroupHome(silentLogger);
    onTestFinished(() => living.close());
    expect(existsSync(abandoned)).toBe(false);
    probeCgroups();
    expect(existsSync(living.path)).toBe(true);

    const populated = join(parent, `exec-server-${IMPOSSIBLE_PID}-1-cd`);
    createThreadedGroup(populated);
    enterGroup(populated);
    const child = run(openLauncher({ cgroups: false }), planOf('/bin/sleep', ['300']));
    enterGroup(parent);
    probeCgroups();
    expect(existsSync(populated)).toBe(true);
    child.child.signalGroup(9);
    await child.done;
    probeCgroups();
    expect(existsSync(populated)).toBe(false);
  });
});
