import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fixture, isRunning, waitForProcessGone } from '@exec-server/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { collect, openMachine, openMachineOn, openServer, sh } from '../support/machine.js';

const HOUR_MS = 3_600_000;

async function spillDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'spill-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  return directory;
}

describe('the result of a process that is kept alive', () => {
  it('is there for another client after the end of its session, until it is removed', async () => {
    const server = openServer({ detachedSessionMs: 1, closedProcessRetentionMs: 1 });
    const starter = await openMachineOn(server);
    const job = await starter.spawn(sh('echo done; exit 3'), { id: 'job', keepAliveMs: HOUR_MS });
    await job.wait();
    await starter.close();
    const later = await openMachineOn(server);
    const told = await later.processes.get('job');
    expect(told).toMatchObject({ id: 'job', state: 'closed', outcome: { kind: 'exited', exitCode: 3 } });
    expect(told).toMatchObject({ spill: undefined, outputEvicted: false });
    expect(await later.processes.wait('job')).toMatchObject({ outcome: { exitCode: 3 } });
    const again = await later.attach('job');
    expect(await again.stdout.text()).toBe('done\n');
    again.detach();
    await later.processes.remove('job');
    const gone = { code: 'process_expired', message: 'unknown process id job' };
    await expect(later.processes.get('job')).rejects.toMatchObject(gone);
    await expect(later.processes.wait('job')).rejects.toMatchObject(gone);
    await expect(later.processes.remove('job')).rejects.toMatchObject(gone);
    await expect(later.attach('job')).rejects.toMatchObject(gone);
    await expect(later.attach('never')).rejects.toMatchObject({ code: 'process_unknown' });
  });

  it('outlives its output, and says so', async () => {
    const machine = await openMachine({ closedProcessOutputBytes: 5000 });
    const start = async (id: string) => {
      const handle = await machine.spawn(sh('head -c 3000 /dev/zero'), { id, keepAliveMs: HOUR_MS });
      await handle.result();
    };
    await start('a');
    await start('b');
    expect(await machine.processes.get('a')).toMatchObject({ outcome: { exitCode: 0 }, outputEvicted: true });
    expect(await machine.processes.get('b')).toMatchObject({
      outcome: { exitCode: 0 },
      outputEvicted: false,
    });
  });
});

describe('of several processes of one id', () => {
  it('the one that runs is meant, or else the newest', async () => {
    const server = openServer();
    const [first, second] = [await openMachineOn(server), await openMachineOn(server)];
    const ended = await first.spawn(sh('exit 1'), { id: 'job' });
    await ended.result();
    const running = await second.spawn(sh('read -r line; exit 2'), { id: 'job', stdin: 'pipe' });
    const third = await openMachineOn(server);
    expect(await third.processes.get('job')).toMatchObject({ pid: running.pid });
    await running.stdin.end();
    expect(await third.processes.wait('job')).toMatchObject({ outcome: { exitCode: 2 } });
    await running.result();
    expect(await third.processes.get('job')).toMatchObject({ outcome: { exitCode: 2 } });
    const { sessionId } = ended;
    expect(await third.processes.get('job', { sessionId: sessionId as string })).toMatchObject({
      outcome: { exitCode: 1 },
    });
  });
});

describe('kill', () => {
  it('ends a process of another session with everything it started', async () => {
    const server = openServer();
    const owner = await openMachineOn(server);
    const handle = await owner.spawn(sh('sleep 600 & echo $!; wait'), { id: 'web' });
    const child = Number(await handle.waitFor({ line: /^\d+$/ }));
    const other = await openMachineOn(server);
    const { wasRunning } = await other.processes.kill('web', { graceMs: 0 });
    expect(wasRunning).toBe(true);
    await waitForProcessGone(child);
    expect(isRunning(handle.pid as number)).toBe(false);
  });

  it('and wait with a time say no for what is not there, and how it is', async () => {
    const machine = await openMachine();
    await expect(machine.processes.kill('x')).rejects.toMatchObject({ code: 'process_unknown' });
    await using handle = await machine.spawn(['sleep', '600'], { id: 'p' });
    expect(await machine.processes.wait('p', { timeoutMs: 0 })).toMatchObject({ state: 'running' });
    await expect(machine.processes.remove('p')).rejects.toMatchObject({
      code: 'rejected',
      message: 'process p is running; terminate it first',
    });
    expect(handle.outcome).toBeUndefined();
  });
});

describe('output that the log no longer has', () => {
  it('is read from the spill file, by who comes late and by who is slow', async () => {
    const server = openServer({ retainedOutputBytes: 4096, spillDirectory: await spillDirectory() });
    const owner = await openMachineOn(server);
    const handle = await owner.spawn([fixture('print-20k')], { id: 'p', output: { spill: true } });
    const { spill } = await handle.result();
    const machine = await openMachineOn(server);
    expect((await machine.processes.get('p')).spill).toEqual(spill);
    const again = await machine.attach('p', { mode: 'view' });
    const text = await again.all.text();
    expect([text.length, text.slice(0, 10), text.slice(-10)]).toEqual([20_480, '000000000\n', '000002047\n']);
    expect(await collect(again.lines())).toHaveLength(2048);
    expect(await collect(again.all.lines({ from: 1 }))).not.toHaveLength(2048);
    expect((await again.result()).spill).toMatchObject({ path: spill?.path, sizeBytes: 20_480 });
    // The file has both streams in one.
    await expect(again.stdout.text()).rejects.toMatchObject({ code: 'lagged' });
  });

  it('is followed there while the process runs', async () => {
    const machine = await openMachine({ retainedOutputBytes: 4096, spillDirectory: await spillDirectory() });
    await using handle = await machine.spawn(sh('"$1"; read -r go; echo end', fixture('print-20k')), {
      stdin: 'pipe',
      output: { spill: true },
    });
    await handle.waitFor({ line: '000002047' });
    let lines = 0;
    let last = '';
    for await (const line of handle.all.lines()) {
      lines++;
      last = line;
      if (line === '000002047') await handle.stdin.write('go\n');
    }
    expect([lines, last]).toEqual([2049, 'end']);
  });
});
