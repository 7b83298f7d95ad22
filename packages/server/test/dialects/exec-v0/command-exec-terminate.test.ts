import { fixture, waitForProcessGone } from '@exec-server/testing';
import { expect, it } from 'vitest';
import { openServer } from '../../support/session.js';
import { openV0 } from '../../support/v0-client.js';

it('kills a process with everything it started', async () => {
  const client = await openV0(openServer());
  const id = await client.start([fixture('setsid-grandchild')]);
  const grandchild = Number(await client.untilPrinted(id, '\n'));
  expect((await client.terminate(id)).result).toEqual({ running: true });
  expect((await client.untilExited(id)).exitCode).toBe(137);
  await waitForProcessGone(grandchild);
});

it('leaves the id taken until the end was told', async () => {
  const client = await openV0(openServer());
  const id = await client.start(['sleep', '300'], { tty: true });
  client.wire.send({ id: 'end', method: 'command/exec/terminate', params: { sessionId: id } });
  // In the same turn, before the kernel can have told of the end.
  const { error } = await client.write(id, 'x');
  expect(error?.message).not.toBe(`unknown session id ${id}`);
  await client.untilExited(id);
  expect((await client.write(id, 'x')).error?.message).toBe(`unknown session id ${id}`);
});

it('finds nothing running where nothing runs', async () => {
  const client = await openV0(openServer());
  expect((await client.terminate('session-1')).result).toEqual({ running: false });
  const id = await client.start(['true']);
  await client.untilExited(id);
  expect((await client.terminate(id)).result).toEqual({ running: false });
});

it('refuses params without an id', async () => {
  const { wire } = await openV0(openServer());
  const { error } = await wire.request('command/exec/terminate', {});
  expect(error).toMatchObject({ code: -32602, message: 'missing field `sessionId`' });
});
