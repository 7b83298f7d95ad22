import { describe, expect, it, onTestFinished } from 'vitest';
import { ExecServerClient } from '../../src/low-level/exec-server-client.js';
import { Machine } from '../../src/machine.js';
import { CuttingDialer } from '../support/cutting-dialer.js';
import { collect, openMachine, openMachineOn, openServer, sh } from '../support/machine.js';

const COUNTING = 'echo one; read -r _; echo two; read -r _; exit 3';

describe('a process of the own session', () => {
  it('goes on behind the cursor of the handle that was detached', async () => {
    const machine = await openMachine();
    const job = await machine.spawn(sh(COUNTING), { id: 'job', stdin: 'pipe' });
    await job.waitFor({ line: 'one' });
    const { cursor } = job;
    job.detach();
    const again = await machine.attach('job', { from: cursor });
    await again.stdin.write('\n');
    expect(await again.waitFor({ line: /./ })).toBe('two');
    await again.stdin.write('\n');
    expect(await again.wait()).toEqual({ kind: 'exited', exitCode: 3 });
    expect((await collect(again.events())).map(({ type }) => type).sort()).toEqual([
      'closed',
      'exited',
      'output',
    ]);
  });

  it('tells everything that is retained, also after its end', async () => {
    const machine = await openMachine();
    const job = await machine.spawn(sh('echo all; exit 4'), { id: 'done' });
    await job.result();
    const again = await machine.attach('done');
    expect(await again.stdout.text()).toBe('all\n');
    expect((await again.result()).outcome).toEqual({ kind: 'exited', exitCode: 4 });
  });

  it('is attached to on a server that can neither list nor attach', async () => {
    const machine = await openMachine({ disabledCapabilities: ['processTags', 'processAttach'] });
    const job = await machine.spawn(sh(COUNTING), { id: 'job', stdin: 'pipe' });
    await job.waitFor({ line: 'one' });
    job.detach();
    const again = await machine.attach('job');
    await again.waitFor({ line: 'one' });
    await again.terminate({ graceMs: 0 });
    await expect(machine.attach('nobody')).rejects.toMatchObject({ code: 'process_unknown' });
  });

  it('cannot be followed twice at once', async () => {
    const machine = await openMachine();
    await using job = await machine.spawn(['sleep', '300'], { id: 'job' });
    await expect(machine.attach(job.id)).rejects.toMatchObject({
      code: 'usage',
      message: 'session already registered for process job',
    });
  });
});

describe('a process of another session', () => {
  it('is not left attached by an attempt that was aborted', async () => {
    const server = openServer({ attachedProcesses: 1 });
    const owner = await openMachineOn(server);
    await using first = await owner.spawn(sh(COUNTING), { stdin: 'pipe' });
    await using second = await owner.spawn(sh(COUNTING), { stdin: 'pipe' });
    const dialer = new CuttingDialer(server);
    const other = new Machine(await ExecServerClient.connect(dialer));
    onTestFinished(() => other.close());
    const abort = new AbortController();
    // The request is on its way when its caller loses interest.
    dialer.cutWhen = (text, direction) => {
      if (direction === 'sent' && text.includes('"process/attach"')) abort.abort(new Error('enough'));
      return false;
    };
    await expect(other.attach(first.id, { signal: abort.signal })).rejects.toThrow('enough');
    const seen = await other.attach(second.id);
    expect(await seen.waitFor({ line: /./ })).toBe('one');
  });

  it('is found by its name, watched and driven', async () => {
    const server = openServer();
    const [owner, other] = [await openMachineOn(server), await openMachineOn(server)];
    await using job = await owner.spawn(sh(COUNTING), { id: 'job', stdin: 'pipe' });
    await job.waitFor({ line: 'one' });
    const seen = await other.attach('job');
    expect(seen).toMatchObject({ sessionId: owner.sessionId, pid: job.pid });
    await seen.waitFor({ line: 'one' });
    await seen.stdin.write('\n');
    await seen.waitFor({ line: 'two' });
    await seen.signal('SIGKILL');
    expect(await seen.wait()).toMatchObject({ signal: 'SIGKILL' });
    expect(await job.wait()).toMatchObject({ signal: 'SIGKILL' });
    expect((await seen.snapshot()).stdout.text()).toBe('one\ntwo\n');
  });

  it('is only watched when that was asked for', async () => {
    const server = openServer();
    const [owner, other] = [await openMachineOn(server), await openMachineOn(server)];
    await using job = await owner.spawn(sh(COUNTING), { id: 'job', stdin: 'pipe' });
    const seen = await other.attach('job', { mode: 'view', sessionId: owner.sessionId as string });
    await seen.waitFor({ line: 'one' });
    await expect(seen.terminate()).rejects.toMatchObject({ code: 'rejected' });
    seen.detach();
    expect(job.outcome).toBeUndefined();
  });

  it('has to be named by its session where several have one of that name', async () => {
    const server = openServer();
    const first = await openMachineOn(server);
    const second = await openMachineOn(server);
    const other = await openMachineOn(server);
    await using a = await first.spawn(['sleep', '300'], { id: 'job' });
    await using b = await second.spawn(['sleep', '300'], { id: 'job' });
    await expect(other.attach('job')).rejects.toMatchObject({ code: 'usage' });
    const seen = await other.attach('job', { sessionId: b.sessionId as string });
    expect(seen.pid).toBe(b.pid);
    expect(seen.pid).not.toBe(a.pid);
    seen.detach();
  });

  it('is process_unknown when nobody has it', async () => {
    const machine = await openMachine();
    await expect(machine.attach('nobody')).rejects.toMatchObject({ code: 'process_unknown' });
  });
});
