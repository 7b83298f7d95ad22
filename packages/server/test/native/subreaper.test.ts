import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fixture, requireProgram } from '@exec-server/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { NativeLauncher } from '../../src/native/native-launcher.js';
import { readProcess } from '../../src/native/process-tree.js';
import { silentLogger } from '../../src/telemetry/logger.js';
import { planOf, readState, run, until } from './launch-helper.js';

function openLauncher(subreaper = true): NativeLauncher {
  const launcher = new NativeLauncher({ guardian: false, cgroups: false, subreaper, logger: silentLogger });
  onTestFinished(() => launcher.close());
  return launcher;
}

/** Starts a program that leaves a daemon, which does something first. Tells the daemon's number. */
async function startDaemon(launcher: NativeLauncher, first = ':'): Promise<number> {
  const daemon = `${first}; echo "left $$"; exec sleep 300 </dev/null >/dev/null 2>&1`;
  const script = `setsid sh -c 'setsid sh -c "$0" & :' "$0" & wait`;
  const child = run(launcher, planOf('/bin/sh', ['-c', script, daemon]));
  const [, pid] = await child.waitFor(/left (\d+)/);
  await child.done;
  onTestFinished(() => {
    if (readState(Number(pid)) !== null) process.kill(Number(pid), 'SIGKILL');
  });
  return Number(pid);
}

describe('a subreaper', () => {
  it('is the parent of what its children leave, and reaps it', async () => {
    const daemon = await startDaemon(openLauncher());
    await until(() => readProcess(daemon)?.ppid === process.pid);
    process.kill(daemon, 'SIGKILL');
    await until(() => readState(daemon) === null);
  });

  it('is none without being told so, nor after its launcher is closed', async () => {
    const daemon = await startDaemon(openLauncher(false));
    await until(() => readProcess(daemon)?.ppid !== undefined);
    expect(readProcess(daemon)?.ppid).not.toBe(process.pid);
    const launcher = openLauncher();
    await launcher.close();
    await launcher.close();
    expect(process.listenerCount('SIGCHLD')).toBe(0);
    expect(readProcess(await startDaemon(openLauncher(false)))?.ppid).not.toBe(process.pid);
  });

  it('leaves the children of Node to Node, in whatever session', async () => {
    openLauncher();
    const children = [false, true].map((detached) => spawn('/bin/sh', ['-c', 'exit 7'], { detached }));
    const exits = children.map((child) => once(child, 'exit'));
    // They end while the loop does not turn, so that the reaper meets them as zombies.
    while (children.some(({ pid }) => readState(pid!) !== 'Z')) process.hrtime();
    expect(await Promise.all(exits)).toEqual([
      [7, null],
      [7, null],
    ]);
  });

  it('reaps, after a while, also who has shed his mark', async (test) => {
    requireProgram('prlimit', test);
    const daemon = await startDaemon(openLauncher(), 'prlimit --pid $$ --locks=unlimited');
    await until(() => readProcess(daemon)?.ppid === process.pid);
    process.kill(daemon, 'SIGKILL');
    const keepAlive = setInterval(() => {}, 1_000);
    await until(() => readState(daemon) === null);
    clearInterval(keepAlive);
  });

  it('finds who has shed his mark and lost his parents, and nobody else', async (test) => {
    requireProgram('prlimit', test);
    const before = spawn('/bin/sleep', ['300'], { detached: true });
    onTestFinished(() => void before.kill('SIGKILL'));
    // Its start is told in hundredths of a second.
    const began = performance.now();
    while (performance.now() - began < 20) process.hrtime();
    const launcher = openLauncher();
    await startDaemon(launcher);
    const { child } = run(launcher, planOf(fixture('ignore-sigterm'), []));
    onTestFinished(() => void child.signalGroup(9));
    expect(launcher.findUnclaimed()).toEqual([]);
    const shed = await startDaemon(launcher, 'prlimit --pid $$ --locks=unlimited');
    await until(() => readProcess(shed)?.ppid === process.pid);
    expect(launcher.findUnclaimed().map(({ pid }) => pid)).toEqual([shed]);
    const second = openLauncher();
    expect(launcher.findUnclaimed()).toEqual([]);
    await second.close();
    expect(launcher.findUnclaimed()).toHaveLength(1);
  });
});
