import { waitForProcessGone } from '@exec-server/testing';
import { expect, it } from 'vitest';
import { firstOutput, notificationOf, openSession, serve, startParams } from '../e2e/session.js';

const PRINT_PID = ['/bin/sh', '-c', 'echo $$; exec cat'];
/** More than a pipe and the queue of the server take together. */
const LARGE_WRITE_BYTES = 4 * 1024 * 1024;

it.each([{ tty: false, pipeStdin: true }, { tty: true }])('a child that is stopped: %o', async (changes) => {
  const server = await serve();
  const { wire } = await openSession(server.url);
  await wire.request('process/start', startParams('p', PRINT_PID, changes));
  const pid = Number(await firstOutput(wire, 'p'));
  process.kill(pid, 'SIGSTOP');
  const chunk = Buffer.alloc(LARGE_WRITE_BYTES, 'x\n').toString('base64');
  const write = wire.request('process/write', { processId: 'p', chunk, writeId: '1' });
  // It holds up nobody: not the one who writes to it, and not the next process.
  expect((await wire.request('process/start', startParams('q', ['/bin/true']))).error).toBeUndefined();
  await wire.next(notificationOf('q', 'process/closed'), 'the end of another process');
  expect((await wire.request('process/read', { processId: 'p' })).result).toMatchObject({ exited: false });

  expect((await wire.request('process/terminate', { processId: 'p' })).result).toMatchObject({
    running: true,
  });
  await wire.next(notificationOf('p', 'process/closed'), 'the end of the process');
  await waitForProcessGone(pid);
  await write;
});

it('a child that is stopped ends with its server', async () => {
  const server = await serve();
  const { wire } = await openSession(server.url);
  await wire.request('process/start', startParams('p', PRINT_PID, { pipeStdin: true }));
  const pid = Number(await firstOutput(wire, 'p'));
  process.kill(pid, 'SIGSTOP');
  expect(await server.stop()).toEqual({ code: 0, signal: null });
  await waitForProcessGone(pid);
});
