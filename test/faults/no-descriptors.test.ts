import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openWire, type Wire, type WireMessage } from '@exec-server/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { CLOSED_PROXY } from '../../packages/server/test/support/network-proxy.js';
import { READ_ROOT, requireSandbox, rule, sandboxOf } from '../../packages/server/test/support/sandbox.js';
import { notificationOf, openSession, serve, startParams } from '../e2e/session.js';
import { countDescriptors, leaveDescriptors, limitDescriptors, untilDescriptors } from './support.js';

/** What the server is left beside what it has open. */
const DESCRIPTORS = 40;
/** More than one start needs at once, of whatever kind. */
const ENOUGH_FOR_A_START = 9;
/** The same of one in a sandbox, or with a proxy. */
const ENOUGH_FOR_A_SANDBOX = 40;
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

describe.each(['a sandbox', 'a proxy'])('a start with %s', (kind) => {
  // One server for all counts: what such a start is made with is found with the first one.
  it('says what is wanting', async (context) => {
    await requireSandbox(context);
    const directory = await mkdtemp(join(tmpdir(), 'exec-server-no-descriptors-'));
    onTestFinished(() => rm(directory, { recursive: true, force: true }));
    const server = await serve();
    const { wire } = await openSession(server.url);
    const sandbox = sandboxOf([READ_ROOT, rule(directory, 'write'), rule(join(directory, 'no'), 'deny')]);
    const changes = kind === 'a sandbox' ? { sandbox } : { networkProxy: { proxy: CLOSED_PROXY } };
    const tryToStart = async (id: string) => {
      const { error } = await wire.request('process/start', startParams(id, ['/bin/true'], changes));
      if (error === undefined) await wire.next(notificationOf(id, 'process/closed'), `the end of ${id}`);
      return error?.message;
    };
    expect(await tryToStart('first')).toBeUndefined();
    const failures: string[] = [];
    // Downwards, because a limit cannot be raised again.
    const used = countDescriptors(server.pid);
    for (let count = ENOUGH_FOR_A_SANDBOX; count >= 0; count--) {
      limitDescriptors(server.pid, used + count);
      const failure = await tryToStart(`with-${count}`);
      if (failure !== undefined) failures.push(failure);
    }
    expect(failures.length).toBeGreaterThan(3);
    expect(failures.length).toBeLessThan(ENOUGH_FOR_A_SANDBOX);
    expect(failures.filter((message) => !NONE_LEFT.test(message))).toEqual([]);
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
