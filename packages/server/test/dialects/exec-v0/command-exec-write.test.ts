import { fixture } from '@exec-server/testing';
import { expect, it } from 'vitest';
import { openServer } from '../../support/session.js';
import { openV0 } from '../../support/v0-client.js';

it('reaches a terminal', async () => {
  const client = await openV0(openServer());
  const id = await client.startShell('stty -echo; echo ready; read line; echo "got $line"', { tty: true });
  await client.untilPrinted(id, 'ready');
  expect((await client.write(id, 'hello\n')).result).toEqual({ accepted: true });
  expect((await client.untilExited(id)).stdout).toContain('got hello');
});

it('finds the stdin of a process without one closed', async () => {
  const client = await openV0(openServer());
  const id = await client.start(['sleep', '300']);
  expect((await client.write(id, 'x')).error).toMatchObject({
    code: -32600,
    message: 'stdin is closed for session session-1',
  });
});

it('knows ids from their start until their end was told', async () => {
  const client = await openV0(openServer());
  const unknown = { code: -32600, message: 'unknown session id session-1' };
  expect((await client.write('session-1', 'x')).error).toMatchObject(unknown);
  const id = await client.start(['true'], { tty: true });
  await client.untilExited(id);
  expect((await client.write(id, 'x')).error).toMatchObject(unknown);
});

it('knows no ids of another connection', async () => {
  const server = openServer();
  const [one, other] = [await openV0(server), await openV0(server)];
  const id = await one.start(['sleep', '300'], { tty: true });
  expect((await other.write(id, 'x')).error?.message).toBe('unknown session id session-1');
  expect((await other.terminate(id)).result).toEqual({ running: false });
  expect((await one.terminate(id)).result).toEqual({ running: true });
});

it('that waits for room fails when its process is terminated', async () => {
  const client = await openV0(openServer({ stdinQueueBytes: 1 }));
  const id = await client.start([fixture('never-read-stdin')], { tty: true });
  const writes = Array.from({ length: 3 }, () => client.write(id, 'x'.repeat(65_536)));
  await client.wire.request('environment/status');
  await client.terminate(id);
  expect((await Promise.all(writes)).at(-1)?.error).toMatchObject({
    code: -32603,
    message: 'failed to write to process stdin',
  });
});

it.each([
  [{ sessionId: 's' }, 'missing field `chunk`'],
  [{ chunk: '' }, 'missing field `sessionId`'],
  [{ sessionId: 's', chunk: '*' }, expect.stringContaining('Invalid')],
])('refuses %o', async (params, message) => {
  const { wire } = await openV0(openServer());
  expect((await wire.request('command/exec/write', params)).error).toMatchObject({ code: -32602, message });
});
