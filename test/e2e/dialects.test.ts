import { openWire, type Wire, waitForProcessGone } from '@exec-server/testing';
import { expect, it, onTestFinished } from 'vitest';
import { firstOutput, notificationOf, openSession, serve, startParams } from './session.js';

const ENV = { PATH: '/usr/local/bin:/usr/bin:/bin' };
/** Prints who it is and runs on; the number is the shell's own, which the program takes over. */
const script = (name: string) => ['/bin/sh', '-c', `echo ${name} $$; exec sleep 300`];

/** A process of the oldest generation, and the process id that it printed. */
async function startV0(wire: Wire, name: string): Promise<{ sessionId: string; pid: number }> {
  const params = { argv: script(name), cwd: '/tmp', env: ENV, tty: false, arg0: null };
  const { result } = await wire.request('command/exec', params);
  const delta = await wire.next(({ method }) => method === 'command/exec/outputDelta', `${name}'s output`);
  const text = Buffer.from(delta.params?.chunk as string, 'base64').toString();
  expect(text).toContain(name);
  return { sessionId: result?.sessionId as string, pid: Number(text.split(' ')[1]) };
}

it('one port serves connections of different dialects with equal ids', async () => {
  const { url } = await serve();
  const [{ wire: older }, { wire: other }, { wire: current }] = await Promise.all([
    openSession(url),
    openSession(url),
    openSession(url),
  ]);
  const mine = await startV0(older, 'older');
  const theirs = await startV0(other, 'other');
  expect([mine.sessionId, theirs.sessionId]).toEqual(['session-1', 'session-1']);
  await current.request('process/start', startParams('session-1', script('current')));
  expect(await firstOutput(current, 'session-1')).toContain('current');

  // The end of one connection ends its own process, and nobody else's.
  await other.close();
  await waitForProcessGone(theirs.pid);
  expect((await current.request('process/terminate', { processId: 'session-1' })).result).toMatchObject({
    running: true,
  });
  await current.next(notificationOf('session-1', 'process/closed'), 'the end');
  const ended = await older.request('command/exec/terminate', { sessionId: 'session-1' });
  expect(ended.result).toEqual({ running: true });
  const exited = await older.next(({ method }) => method === 'command/exec/exited', 'the end');
  expect(exited.params).toEqual({ sessionId: 'session-1', exitCode: 137 });
});

it('each connection gets the words of its dialect', async () => {
  const { url } = await serve();
  const [{ wire: older }, { wire: current }, app] = await Promise.all([
    openSession(url),
    openSession(url),
    openWire(url),
  ]);
  onTestFinished(() => app.terminate());
  await app.request('initialize', { clientInfo: { name: 'e2e', version: '1' } });
  await older.request('command/exec/terminate', { sessionId: 'none' });
  const answers = await Promise.all([older, current, app].map((wire) => wire.request('no/such/method', {})));
  expect(answers.map(({ error }) => error)).toMatchObject([
    { code: -32600, message: 'unknown method: no/such/method' },
    { code: -32601, message: 'exec-server stub does not implement `no/such/method` yet' },
    { code: -32600, message: expect.stringContaining('Invalid request: unknown variant `no/such/method`') },
  ]);
  // What is not JSON costs each its own: the connection, an answer, nothing.
  for (const wire of [older, current, app]) wire.sendRaw('not json');
  expect((await older.closed).code).toBe(1002);
  expect((await current.next(({ id }) => id === -1, 'an answer')).error?.code).toBe(-32600);
  expect(
    (await app.request('initialize', { clientInfo: { name: 'e2e', version: '1' } })).error,
  ).toMatchObject({
    code: -32600,
    message: 'Already initialized',
  });
  expect(app.received.filter(({ id }) => id === -1)).toEqual([]);
});
