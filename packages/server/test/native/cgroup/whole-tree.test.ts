import { fixture, requireProgram } from '@exec-server/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { killCgroups } from '../../../src/native/cgroup/kill-cgroups.js';
import { collectWholeTree } from '../../../src/native/cgroup/whole-tree.js';
import type { LaunchPlan } from '../../../src/native/launch.js';
import { createLauncher } from '../../../src/native/launcher.js';
import { readProcess } from '../../../src/native/process-tree.js';
import { requireCgroups } from '../../support/cgroups.js';
import { LEFT, leavingChild } from '../../support/leaving-child.js';
import { planOf, readState, run, shell, until } from '../launch-helper.js';

/** A thread that is not the first one starts a child, and says its number. */
const CHILD_OF_THREAD = `
import subprocess, threading, time
def start():
    print('child', subprocess.Popen(['/bin/sleep', '300']).pid, flush=True)
    time.sleep(300)
threading.Thread(target=start).start()
`;

function start(plan: LaunchPlan) {
  const launcher = createLauncher({ guardian: false });
  onTestFinished(() => launcher.close());
  const started = run(launcher, plan);
  const { pid, cgroup } = started.child;
  return { ...started, cgroup: cgroup!, collect: () => collectWholeTree(pid, cgroup!) };
}

const named = (pid: number) => ({ pid, startTime: readProcess(pid)?.startTime });

describe('the whole tree in a cgroup', () => {
  it('is the process, its descendants in other sessions, and daemons without parents', async (test) => {
    requireCgroups(test);
    const tree = start(
      shell(`setsid sh -c 'echo in $$; sleep 300 & echo deeper $!; wait' & ${fixture('daemon')} & wait`),
    );
    const [, inner] = await tree.waitFor(/in (\d+)\n/);
    const [, innermost] = await tree.waitFor(/deeper (\d+)\n/);
    const [, daemon] = await tree.waitFor(/left (\d+)/);
    const expected = [tree.child.pid, Number(inner), Number(innermost), Number(daemon)].map(named);
    expect(tree.collect()).toEqual(expect.arrayContaining(expected));
  });

  it('names a process of many threads once, and children of each thread', async (test) => {
    requireCgroups(test);
    const python = requireProgram('python3', test);
    const tree = start(planOf(python, ['-c', CHILD_OF_THREAD]));
    const [, ofThread] = await tree.waitFor(/child (\d+)\n/);
    const members = tree.collect();
    expect(members).toHaveLength(2);
    expect(members).toEqual(expect.arrayContaining([named(tree.child.pid), named(Number(ofThread))]));
  });

  it('is not known where a child of somebody has left', async (test) => {
    const { program, args } = leavingChild(test, { orphaned: false });
    const tree = start(planOf(program, args));
    const [, left] = await tree.waitFor(LEFT);
    expect(tree.collect()).toBeNull();
    process.kill(Number(left), 'SIGKILL');
    await until(() => readState(Number(left)) === 'Z');
    // One that has ended and is not reaped is nobody who left.
    expect(tree.collect()).toEqual([named(tree.child.pid)]);
  });

  it('is not known where the process itself is not in there', async (test) => {
    const outside = requireCgroups(test);
    const script = `echo $$ >${outside}/cgroup.threads && echo out; exec sleep 300`;
    const tree = start(shell(script));
    await tree.waitFor(/out/);
    expect(tree.collect()).toBeNull();
    tree.child.signalGroup(9);
    await killCgroups([tree.cgroup]);
  });
});
