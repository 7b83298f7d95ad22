import { describe, expect, it } from 'vitest';
import { openMachine, openMachineOn, openServer, sh } from '../support/machine.js';

describe('startKey', () => {
  it('gives a handle of the process that another session has started', async () => {
    const server = openServer();
    const [one, other] = [await openMachineOn(server), await openMachineOn(server)];
    const script = sh('echo ready; read -r line; echo "got $line"; exit 3');
    const first = await one.spawn(script, { startKey: 'k', stdin: 'pipe', keepAliveMs: 60_000 });
    await first.waitFor({ line: 'ready' });
    const again = await other.spawn(sh('echo never'), { startKey: 'k', stdin: 'pipe' });
    expect(again.pid).toBe(first.pid);
    await again.stdin.write('it\n');
    const { exitCode, stdout } = await again.result();
    expect(exitCode).toBe(3);
    expect(stdout.text()).toBe('ready\ngot it\n');
  });

  it('goes on with a process of the own session that nobody follows', async () => {
    const machine = await openMachine();
    const first = await machine.spawn(sh('echo one; exit 4'), { startKey: 'k' });
    await first.result();
    const again = await machine.spawn(sh('echo two'), { startKey: 'k' });
    expect((await again.result()).stdout.text()).toBe('one\n');
  });

  it('is refused where the server would ignore it', async () => {
    const machine = await openMachine({ disabledCapabilities: ['processStartKey'] });
    await expect(machine.spawn(sh('exit'), { startKey: 'k' })).rejects.toMatchObject({
      code: 'capability_missing',
    });
  });
});
