import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NativeLauncher } from '../../src/native/native-launcher.js';
import {
  collectTrees,
  type ProcessEntry,
  parsePsTable,
  readProcessTable,
  signalProcess,
} from '../../src/native/process-tree.js';
import { silentLogger } from '../../src/telemetry/logger.js';
import { planOf, run, shell } from './launch-helper.js';

describe('process tree', () => {
  let launcher: NativeLauncher;

  beforeAll(() => {
    launcher = new NativeLauncher({ guardian: false, cgroups: false, logger: silentLogger });
  });

  afterAll(() => launcher.close());

  it('lists this process as ps does', () => {
    const [ppid, pgid, sid] = execFileSync('ps', ['-o', 'ppid=,pgid=,sid=', '-p', String(process.pid)], {
      encoding: 'utf8',
    })
      .trim()
      .split(/\s+/)
      .map(Number);
    expect(readProcessTable().get(process.pid)).toMatchObject({ ppid, pgid, sid });
  });

  it('reads a process whose name looks like the fields behind it', async () => {
    const script = 'cp /bin/sleep "/tmp/$$ x) Z 1 (\n1" && exec "/tmp/$$ x) Z 1 (\n1" 1000';
    const child = run(launcher, shell(`echo start; ${script}`));
    await child.waitFor(/start/);
    expect(readProcessTable().get(child.child.pid)).toMatchObject({
      ppid: process.pid,
      sid: child.child.pid,
    });
    child.child.signalGroup(9);
    await child.done;
    execFileSync('/bin/sh', ['-c', `rm -f /tmp/${child.child.pid}\\ x*`]);
  });

  it('collects members of the session and descendants that left it, and nobody else', async () => {
    const bystander = run(launcher, planOf('/bin/sleep', ['1000']));
    const child = run(
      launcher,
      shell("sleep 1000 & echo $!; setsid sh -c 'echo $$; sleep 1000 & echo $!; wait' & wait"),
    );
    const [, ...pids] = await child.waitFor(/(\d+)\n(\d+)\n(\d+)\n/);
    const expected = [child.child.pid, ...pids.map(Number)];
    const tree = collectTrees([child.child.pid]);
    expect(tree.map(({ pid }) => pid)).toEqual(expect.arrayContaining(expected));
    expect(tree.map(({ pid }) => pid)).not.toContain(bystander.child.pid);
    for (const { pid, startTime } of tree) signalProcess(pid, startTime, 9);
    bystander.child.signalGroup(9);
    await Promise.all([child.done, bystander.done]);
  });

  it('finds who is left when the root is gone', () => {
    const entry = (ppid: number, pgid: number, sid: number): ProcessEntry => ({
      ppid,
      pgid,
      sid,
      startTime: ppid,
    });
    const table = new Map([
      [11, entry(1, 11, 10)],
      [12, entry(11, 12, 12)],
      [13, entry(12, 12, 12)],
      [14, entry(1, 14, 14)],
    ]);
    expect(collectTrees([10], table).map(({ pid }) => pid)).toEqual([11, 12, 13]);
    expect(collectTrees([99], table)).toEqual([]);
  });

  it('signals a process only if it is the one that was meant', async () => {
    const child = run(launcher, planOf('/bin/sleep', ['1000']));
    const { startTime } = readProcessTable().get(child.child.pid)!;
    expect(signalProcess(child.child.pid, startTime + 1, 9)).toBe(false);
    expect(signalProcess(child.child.pid, startTime, 0)).toBe(true);
    expect(signalProcess(child.child.pid, startTime, 9)).toBe(true);
    expect(await child.done).toEqual({ kind: 'signaled', signal: 9 });
    expect(signalProcess(child.child.pid, startTime, 9)).toBe(false);
  });

  it('understands ps where there is no /proc', () => {
    const table = parsePsTable(
      '    1     0     1 Ss   Sun Nov 15 20:39:01 2026\n  42     1    42 Z+   Sun Nov 15 20:39:02 2026\n\n',
    );
    expect([...table]).toEqual([
      [1, { ppid: 0, pgid: 1, sid: 0, startTime: Date.UTC(2026, 10, 15, 20, 39, 1) }],
    ]);
  });
});
