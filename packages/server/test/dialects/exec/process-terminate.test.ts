import { fixture, isRunning, waitForProcessGone } from '@exec-server/testing';
import { expect, it } from 'vitest';
import {
  openServer,
  openSession,
  shellParams,
  startParams,
  untilClosed,
  untilPrinted,
} from '../../support/session.js';

it('kills at once, and says whether there was something to kill', async () => {
  const wire = await openSession(openServer());
  await wire.request('process/start', startParams('p', [fixture('ignore-sigterm')]));
  await untilPrinted(wire, 'p', 'ready');
  const terminate = (processId: string) => wire.request('process/terminate', { processId });
  expect((await terminate('p')).result).toMatchObject({ running: true });
  expect((await untilClosed(wire, 'p')).exitCode).toBe(137);
  expect((await terminate('p')).result).toEqual({ running: false, pids: [] });
  expect((await terminate('unknown')).result).toEqual({ running: false, pids: [] });
});

it('delivers what the process had written before', async () => {
  const wire = await openSession(openServer());
  // The child fills its pipe while nobody reads, which shows as a file once it is done.
  await wire.request('process/start', shellParams('p', 'printf "%060000d" 0; echo done >&2; exec sleep 30'));
  await untilPrinted(wire, 'p', 'done');
  await wire.request('process/terminate', { processId: 'p' });
  expect((await untilClosed(wire, 'p')).stdout.length).toBe(60_000);
});

it('reaches a descendant that left the group', async () => {
  const wire = await openSession(openServer());
  await wire.request('process/start', startParams('p', [fixture('setsid-grandchild')]));
  const { params } = await wire.next(({ method }) => method === 'process/output', 'the grandchild’s pid');
  const grandchild = Number(Buffer.from(params?.chunk as string, 'base64').toString());
  await wire.request('process/terminate', { processId: 'p' });
  await waitForProcessGone(grandchild);
  expect((await untilClosed(wire, 'p')).exitCode).toBe(137);
});

it('works on a process whose start was sent right before', async () => {
  const wire = await openSession(openServer());
  wire.send({ id: 'start', method: 'process/start', params: startParams('p', ['/bin/sleep', '30']) });
  expect((await wire.request('process/terminate', { processId: 'p' })).result).toMatchObject({
    running: true,
  });
  expect((await untilClosed(wire, 'p')).exitCode).toBe(137);
});

/** Ends well on SIGTERM and SIGINT, and leaves a child behind that ignores both and prints its pid. */
const LEAVES_A_STUBBORN_CHILD = `
  setsid sh -c 'trap "" TERM INT; echo "$$"; exec >/dev/null 2>&1; while :; do sleep 0.05; done' &
  trap 'exit 0' TERM INT; wait; wait`;

it.each(['SIGTERM', 'SIGINT'])('waits for everybody who got %s, if asked to', async (signal) => {
  const wire = await openSession(openServer());
  await wire.request('process/start', shellParams('p', LEAVES_A_STUBBORN_CHILD));
  const { params } = await wire.next(({ method }) => method === 'process/output', 'the pid of the child');
  const child = Number(Buffer.from(params?.chunk as string, 'base64').toString());
  const mode = { graceful: { timeoutMs: 300, signal } };
  const { result } = await wire.request('process/terminate', { processId: 'p', mode, wait: true });
  expect(result).toMatchObject({ running: true, pids: expect.arrayContaining([child]) });
  expect(isRunning(child)).toBe(false);
  expect((await untilClosed(wire, 'p')).exitCode).toBe(0);
});

it('waits for nobody where nobody was signalled', async () => {
  const wire = await openSession(openServer());
  const { result } = await wire.request('process/terminate', { processId: 'unknown', wait: true });
  expect(result).toEqual({ running: false, pids: [] });
});
