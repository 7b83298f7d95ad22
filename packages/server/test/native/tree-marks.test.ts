import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fixture } from '@exec-server/testing';
import { expect, it, onTestFinished } from 'vitest';
import { loadLibc } from '../../src/native/libc.js';
import { NativeLauncher } from '../../src/native/native-launcher.js';
import { readProcessTable } from '../../src/native/process-tree.js';
import { findMarked, MARK_DIGITS, TreeMarks } from '../../src/native/tree-marks.js';
import { silentLogger } from '../../src/telemetry/logger.js';
import { asNobody, NOBODY, requireRoot } from '../support/cgroups.js';
import { planOf, run } from './launch-helper.js';

const libc = loadLibc();
const RLIMIT_LOCKS = 10;

const lockLimits = (pid: number | 'self') =>
  /^Max file locks +(\S+) +(\S+)/m.exec(readFileSync(`/proc/${pid}/limits`, 'utf8'))!.slice(1);

function openLauncher(): NativeLauncher {
  const launcher = new NativeLauncher({ guardian: false, cgroups: false, logger: silentLogger });
  onTestFinished(() => launcher.close());
  return launcher;
}

function startSleeper(marks: TreeMarks, detached: boolean) {
  const { started, mark } = marks.start(() => spawn('/bin/sleep', ['300'], { detached }));
  onTestFinished(() => void started.kill('SIGKILL'));
  return { pid: started.pid!, mark: mark! };
}

it('is inherited by a daemon, and is another one for each child; nobody else has it', async () => {
  const before = lockLimits('self');
  const launcher = openLauncher();
  const [first, second] = [
    run(launcher, planOf(fixture('daemon'), [])),
    run(launcher, planOf('/bin/sleep', ['300'])),
  ];
  const [, daemon] = await first.waitFor(/left (\d+)/);
  const { mark } = first.child;
  const { marks } = mark!;
  expect(mark!.number).not.toBe(second.child.mark!.number);
  expect(String(mark!.number)).toMatch(new RegExp(`^${marks.prefix}\\d{${MARK_DIGITS}}$`));
  expect(lockLimits(Number(daemon))[0]).toBe(String(mark!.number));
  expect(marks.read(Number(daemon))).toBe(mark!.number);
  expect([process.pid, 1, 2 ** 22 + 1].map((pid) => marks.read(pid))).toEqual(Array(3).fill(undefined));
  expect(lockLimits('self')).toEqual(before);
  expect(await marks.collect()).toEqual(new Set([mark!.number, second.child.mark!.number]));
  const marked = findMarked([mark!], readProcessTable());
  expect(marked).toEqual(expect.arrayContaining([first.child.pid, Number(daemon)]));
  expect(marked).not.toContain(second.child.pid);
  expect(new TreeMarks(libc).read(Number(daemon))).toBeUndefined();
  for (const pid of [Number(daemon), second.child.pid]) process.kill(pid, 'SIGKILL');
  first.child.signalGroup(9);
  await Promise.all([first.done, second.done]);
});

it('is gone when nobody bears it any more, not when the child has ended', async () => {
  const launcher = openLauncher();
  const child = run(
    launcher,
    planOf('/bin/sh', ['-c', 'setsid sleep 300 </dev/null >/dev/null 2>&1 & echo "$!"']),
  );
  const [, pid] = await child.waitFor(/(\d+)\n/);
  let gone = false;
  const over = child.child.gone.then(() => {
    gone = true;
  });
  await child.done;
  const keepAlive = setInterval(() => {}, 1_000);
  // The first look comes a second after the end, and finds it.
  while (!child.child.pidForgotten) await new Promise((resolve) => setTimeout(resolve, 20));
  expect(gone).toBe(false);
  process.kill(Number(pid), 'SIGKILL');
  await over;
  clearInterval(keepAlive);
});

it('is passed over in the session of this process, where only another thread can have started who bears it', async () => {
  const marks = new TreeMarks(libc);
  const [near, far] = [startSleeper(marks, false), startSleeper(marks, true)];
  expect(findMarked([near.mark, far.mark], readProcessTable())).toEqual([far.pid]);
});

it("is seen in a process that has become another user's, without a right to its limits", async (test) => {
  requireRoot(test);
  const marks = new TreeMarks(libc);
  const other = { uid: NOBODY - 1, gid: NOBODY - 1, detached: true };
  const { started, mark } = marks.start(() => spawn('/bin/sleep', ['300'], other));
  onTestFinished(() => void started.kill('SIGKILL'));
  const pid = started.pid!;
  asNobody(() => {
    expect(libc.prlimit(pid, RLIMIT_LOCKS, null, Buffer.alloc(16))).toBe(-1);
    expect(marks.read(pid)).toBe(mark!.number);
    expect(findMarked([mark!], readProcessTable())).toEqual([pid]);
  });
});

it('is taken back when the start fails', () => {
  const before = lockLimits('self');
  const fail = () => {
    throw new Error('no');
  };
  expect(() => new TreeMarks(libc).start(fail)).toThrow('no');
  expect(lockLimits('self')).toEqual(before);
});

it('is done without where the hard limit is below it', async (test) => {
  requireRoot(test);
  const before = Buffer.alloc(16);
  libc.prlimit(0, RLIMIT_LOCKS, null, before);
  const low = Buffer.alloc(16);
  low.writeBigUInt64LE(7n);
  low.writeBigUInt64LE(7n, 8);
  libc.prlimit(0, RLIMIT_LOCKS, low, null);
  try {
    const { started, mark } = new TreeMarks(libc).start(() => spawn('/bin/true'));
    expect(mark).toBeNull();
    expect(lockLimits('self')).toEqual(['7', '7']);
    await once(started, 'exit');
  } finally {
    libc.prlimit(0, RLIMIT_LOCKS, before, null);
  }
});
