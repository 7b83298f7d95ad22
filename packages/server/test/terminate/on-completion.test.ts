import { waitForProcessGone } from '@exec-server/testing';
import { expect, it } from 'vitest';
import { FakeClock } from '../support/fake-clock.js';
import { openServer, openSession } from '../support/session.js';
import { openV0 } from '../support/v0-client.js';

it('kills what is left of the group', async () => {
  const client = await openV0(openServer());
  const id = await client.startShell('sleep 300 >/dev/null 2>&1 & echo $!');
  await waitForProcessGone(Number((await client.untilExited(id)).stdout));
});

it('frees the id, so that nobody finds the process any more', async () => {
  const server = openServer();
  const [client, other] = [await openV0(server), await openSession(server)];
  const list = async () => (await other.request('process/list', { scope: 'all' })).result?.processes;
  const id = await client.start(['sleep', '300']);
  expect(await list()).toMatchObject([{ processId: id }]);
  await client.terminate(id);
  await client.untilExited(id);
  expect(await list()).toEqual([]);
});

it('leaves nothing of it behind, its output included', async () => {
  const clock = new FakeClock();
  const client = await openV0(openServer({ clock }));
  await client.untilExited(await client.startShell('echo x'));
  expect(clock.pendingTimers).toBe(0);
});
