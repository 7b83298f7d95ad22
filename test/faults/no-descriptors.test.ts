import { once } from 'node:events';
import { connect } from 'node:net';
import { openWire, type Wire, type WireMessage } from '@exec-server/testing';
import { describe, expect, it } from 'vitest';
import { notificationOf, openSession, serve, startParams } from '../e2e/session.js';
import { countDescriptors, leaveDescriptors, untilDescriptors } from './support.js';

/** What the server is left beside what it has open. */
const DESCRIPTORS = 40;
/** More than one start needs at once, of whatever kind. */
const ENOUGH_FOR_A_START = 9;
const NONE_LEFT = /Too many open files \(os error 24\)|No file descriptors available \(os error 24\)/;

const start = (wire: Wire, id: string, argv: string[]) =>
  wire.request('process/start', startParams(id, argv, { pipeStdin: true }));

it('starts fail with the error of the system, what runs goes on, and all is well when some are free again', async () => {
  const server = await serve();
  const { wire } = await openSession(server.url);
  await start(wire, 'first', ['/bin/cat']);
  const descriptors = countDescriptors(server.pid);
  leaveDescriptors(server.pid, DESCRIPTORS);
  const running: string[] = [];
  let failure: WireMessage['error'];
  while (failure === undefined && running.length < DESCRIPTORS) {
    const id = `p${running.length}`;
    const { error } = await start(wire, id, ['/bin/cat']);
    if (error === undefined) running.push(id);
    else failure = error;
  }
  expect(failure).toMatchObject({ code: -32603, message: expect.stringMatching(NONE_LEFT) });
  expect(running.length).toBeGreaterThan(5);

  const read = await wire.request('fs/readFile', { path: 'file:///etc/hostname' });
  if (read.error !== undefined) expect(read.error.message).toMatch(NONE_LEFT);
  await wire.request('process/write', { processId: 'first', chunk: btoa('still here\n'), writeId: '1' });
  const { params } = await wire.next(notificationOf('first', 'process/output'), 'the echo');
  expect(atob(params?.chunk as string)).toBe('still here\n');

  for (const processId of running) await wire.request('process/terminate', { processId });
  for (const id of running) await wire.next(notificationOf(id, 'process/closed'), `the end of ${id}`);
  await untilDescriptors(server.pid, descriptors);
  expect((await start(wire, 'again', ['/bin/true'])).error).toBeUndefined();
});

// Each on a server that has not met the limit before: only once does a failure load what it says.
describe.each([
  { kind: 'pipes', changes: { pipeStdin: true } },
  { kind: 'a terminal', changes: { tty: true } },
])('a start with $kind', ({ changes }) => {
  const counts = Array.from({ length: ENOUGH_FOR_A_START + 1 }, (_, count) => count);

  it('fails with the error of the system at whichever call meets the limit', async () => {
    const failures = await Promise.all(
      counts.map(async (count) => {
        const server = await serve();
        const { wire } = await openSession(server.url);
        leaveDescriptors(server.pid, count);
        const params = startParams('p', ['/bin/true'], changes);
        return (await wire.request('process/start', params)).error?.message;
      }),
    );
    const firstStarted = failures.indexOf(undefined);
    expect(firstStarted).toBeGreaterThan(1);
    for (const message of failures.slice(0, firstStarted)) expect(message).toMatch(NONE_LEFT);
    for (const message of failures.slice(firstStarted)) expect(message).toBeUndefined();
  });
});

it('connections beyond them wait or are ended, and those that are there go on', async () => {
  const server = await serve();
  const { wire } = await openSession(server.url);
  const descriptors = countDescriptors(server.pid);
  leaveDescriptors(server.pid, DESCRIPTORS);
  const sockets = Array.from({ length: DESCRIPTORS * 2 }, () => connect(server.port, '127.0.0.1'));
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  for (let round = 0; round < 10; round++)
    expect((await wire.request('environment/status')).result).toBeDefined();
  for (const socket of sockets) socket.destroy();
  await untilDescriptors(server.pid, descriptors);
  const late = await openWire(server.url);
  expect((await late.request('initialize', { clientName: 'late' })).result).toBeDefined();
  late.terminate();
});
