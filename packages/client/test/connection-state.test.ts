import { isRunning, waitForProcessGone } from '@exec-server/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ExecServerClient } from '../src/low-level/exec-server-client.js';
import { Machine } from '../src/machine.js';
import { connect } from '../src/node/connect.js';
import { CuttingDialer } from './support/cutting-dialer.js';
import { openMachineOn, openServer } from './support/machine.js';

/** Far beyond any test: what ends, ends because it was told to. */
const KEEPS_SESSIONS = { detachedSessionMs: 1_000_000_000 };

describe('close', () => {
  it('with `end` ends the session and its processes, except those that are kept alive', async () => {
    const server = openServer(KEEPS_SESSIONS);
    const machine = await openMachineOn(server);
    const bound = await machine.spawn(['sleep', '600']);
    const kept = await machine.spawn(['sleep', '600'], { id: 'kept', keepAliveMs: 3_600_000 });
    await machine.close({ end: true });
    await waitForProcessGone(bound.pid as number);
    expect(isRunning(kept.pid as number)).toBe(true);
    const other = await openMachineOn(server);
    expect(await other.processes.get('kept')).toMatchObject({ state: 'running' });
    await other.processes.kill('kept', { graceMs: 0 });
  });

  it('leaves the session to its time otherwise', async () => {
    const server = openServer(KEEPS_SESSIONS);
    const machine = await openMachineOn(server);
    const handle = await machine.spawn(['sleep', '600'], { id: 'p' });
    await machine.close();
    const other = await openMachineOn(server);
    expect(await other.processes.get('p')).toMatchObject({ state: 'running', pid: handle.pid });
  });

  it('ends the session of a server in this process unless told otherwise', async () => {
    const server = openServer(KEEPS_SESSIONS);
    const first = await connect(server);
    const ended = await first.spawn(['sleep', '600']);
    await first.close();
    await waitForProcessGone(ended.pid as number);
    const second = await connect(server);
    const left = await second.spawn(['sleep', '600'], { id: 'left' });
    await second.close({ end: false });
    const other = await openMachineOn(server);
    expect(await other.processes.get('left')).toMatchObject({ state: 'running', pid: left.pid });
  });

  it('with `end` says that a server cannot, once it has closed', async () => {
    const machine = await openMachineOn(openServer({ disabledCapabilities: ['sessionEnd'] }));
    await expect(machine.close({ end: true })).rejects.toMatchObject({ code: 'capability_missing' });
    expect(machine.state).toBe('closed');
  });
});

describe('the state of a machine', () => {
  it('is told while it reconnects, when it has, and at its end', async () => {
    const dialer = new CuttingDialer(openServer());
    const machine = new Machine(new ExecServerClient(dialer));
    onTestFinished(() => machine.close());
    const told: [string, string | undefined][] = [];
    machine.on('state', (state, error) => told.push([state, error?.code]));
    const stop = machine.on('state', () => {
      throw new Error('nobody listens any more');
    });
    stop();
    expect(machine.state).toBe('idle');
    await machine.run(['true']);
    dialer.cut();
    expect((await machine.run(['true'])).exitCode).toBe(0);
    await machine.close();
    expect(told).toEqual([
      ['connecting', undefined],
      ['connected', undefined],
      ['reconnecting', 'connection_lost'],
      ['connected', undefined],
      ['closed', 'connection_lost'],
    ]);
    expect(machine.state).toBe('closed');
  });
});
