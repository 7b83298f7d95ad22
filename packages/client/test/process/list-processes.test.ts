import { expect, it } from 'vitest';
import { collect, openMachine, openMachineOn, openServer, sh } from '../support/machine.js';

it('tells what runs and what has ended, by tags', async () => {
  const machine = await openMachine();
  await using web = await machine.spawn(['sleep', '300'], { id: 'web', cwd: '/usr', tags: { role: 'web' } });
  const done = await machine.spawn(sh('kill -9 $$'), { id: 'done', tags: { role: 'job' } });
  await done.result();
  expect(await collect(machine.processes.list({ tags: { role: 'web' } }))).toEqual([
    {
      id: 'web',
      sessionId: machine.sessionId,
      pid: web.pid,
      state: 'running',
      outcome: undefined,
      timedOut: false,
      argv: ['sleep', '300'],
      cwd: '/usr',
      tty: false,
      tags: { role: 'web' },
      startedAt: expect.any(Date),
      cursor: 0,
      spill: undefined,
      outputEvicted: false,
    },
  ]);
  const all = await collect(machine.processes.list());
  expect(all.map(({ id, state }) => [id, state])).toEqual([
    ['web', 'running'],
    ['done', 'closed'],
  ]);
  expect(all[1]?.outcome).toEqual({ kind: 'signaled', signal: 'SIGKILL', exitCode: 137 });
});

it("tells other sessions' processes only when asked to", async () => {
  const server = openServer();
  const [owner, other] = [await openMachineOn(server), await openMachineOn(server)];
  await using job = await owner.spawn(['sleep', '300']);
  expect(await collect(other.processes.list())).toEqual([]);
  const all = await collect(other.processes.list({ scope: 'all' }));
  expect(all.map(({ id, sessionId }) => [id, sessionId])).toEqual([[job.id, owner.sessionId]]);
});

it('is refused by a server that cannot list', async () => {
  const machine = await openMachine({ disabledCapabilities: ['processTags'] });
  await expect(collect(machine.processes.list())).rejects.toMatchObject({ capability: 'processTags' });
});
