import { chownSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fixture, requireProgram } from '@exec-server/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { setFrozen } from '../../../src/native/cgroup/cgroup-files.js';
import { killCgroups } from '../../../src/native/cgroup/kill-cgroups.js';
import { createLauncher } from '../../../src/native/launcher.js';
import { asNobodyUntil, NOBODY, requireCgroups, requireRoot } from '../../support/cgroups.js';
import { collect, planOf, readState, run, shell, until } from '../launch-helper.js';

function openLauncher() {
  const launcher = createLauncher({ guardian: false });
  onTestFinished(() => launcher.close());
  return launcher;
}

/** Ends its main thread; another one goes on, under a number of its own. */
const LEADERLESS = `
import ctypes, threading, time
threading.Thread(target=lambda: (print('ready', flush=True), time.sleep(300))).start()
ctypes.CDLL(None).pthread_exit(None)
`;

describe('killing a cgroup', () => {
  it('ends whoever is in it: deaf to signals, forking without end, in sessions of their own', async (test) => {
    requireCgroups(test);
    const launcher = openLauncher();
    const children = (['ignore-sigterm-family', 'fork-storm', 'daemon'] as const).map((name) =>
      run(launcher, planOf(fixture(name), [])),
    );
    await Promise.all([
      children[0]!.waitFor(/\d+/),
      children[1]!.waitFor(/storm/),
      children[2]!.waitFor(/left/),
    ]);
    const cgroups = children.map(({ child }) => child.cgroup!);
    expect(await killCgroups(cgroups)).toBeUndefined();
    // Whoever was killed may need a moment to go.
    await until(() => !cgroups.some(({ populated }) => populated));
    for (const { done } of children) expect(await done).toEqual({ kind: 'signaled', signal: 9 });
  });

  it('ends a process whose main thread has ended', async (test) => {
    requireCgroups(test);
    const python = requireProgram('python3', test);
    const child = collect(openLauncher().launch(planOf(python, ['-c', LEADERLESS])));
    await child.waitFor(/ready/);
    const { pid, cgroup } = child.child;
    await until(() => readState(pid) === 'Z');
    expect(cgroup!.readThreads()).not.toContain(pid);
    await killCgroups([cgroup!]);
    expect(await child.done).toEqual({ kind: 'signaled', signal: 9 });
  });

  it('reaches frozen processes, and does not leave those frozen that are out of reach', async (test) => {
    requireCgroups(test);
    requireRoot(test);
    const setpriv = requireProgram('setpriv', test);
    // A third user: whoever has the rights of another still reaches what runs as the user that it was.
    const args = ['--reuid', String(NOBODY - 1), '--clear-groups', '/bin/sh', '-c', 'echo tick; read line'];
    const child = run(openLauncher(), planOf(setpriv, args, { stdio: { kind: 'pipes', stdin: 'pipe' } }));
    const { cgroup, pid } = child.child;
    await child.waitFor(/tick/);
    for (const file of ['cgroup.freeze', 'cgroup.threads'])
      chownSync(join(cgroup!.path, file), NOBODY, NOBODY);
    await asNobodyUntil(() => killCgroups([cgroup!]));
    expect(readState(pid)).toBe('S');
    expect(readFileSync(join(cgroup!.path, 'cgroup.freeze'), 'utf8')).toBe('0\n');
    setFrozen(cgroup!.path, true);
    await killCgroups([cgroup!]);
    expect(await child.done).toEqual({ kind: 'signaled', signal: 9 });
  });

  it('has nothing to do for one that is gone, or that this process could not leave', async (test) => {
    requireCgroups(test);
    const launcher = openLauncher();
    const ended = run(launcher, shell(':'));
    await ended.done;
    await killCgroups([ended.child.cgroup!]);
    const child = run(launcher, planOf('/bin/sleep', ['300']));
    child.child.cgroup!.abandon();
    await killCgroups([child.child.cgroup!]);
    expect(readState(child.child.pid)).not.toBe('Z');
    child.child.signalGroup(9);
    await child.done;
  });
});
