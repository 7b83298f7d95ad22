import { spawnSync } from 'node:child_process';
import { skipFor, type WireMessage } from '@exec-server/testing';
import { expect, it } from 'vitest';
import { notificationOf, openSession, startParams } from '../e2e/session.js';
import { serveUnder } from './support.js';

/** A user that nobody else runs anything as: the kernel counts processes by user. */
const LONELY_USER = 61_873;
/** Processes and threads; the server itself has about a dozen. */
const PROCESSES = 40;
const AS_LONELY_USER = [
  'setpriv',
  `--reuid=${LONELY_USER}`,
  `--regid=${LONELY_USER}`,
  '--clear-groups',
] as const;

it('starts fail with the error of the system, what runs goes on, and the next works when one has ended', async (test) => {
  const [setpriv, ...privileges] = AS_LONELY_USER;
  if (spawnSync(setpriv, [...privileges, process.execPath, '--version']).status !== 0)
    skipFor(test, 'the right to become somebody else');
  const server = await serveUnder([...AS_LONELY_USER, 'prlimit', `--nproc=${PROCESSES}:${PROCESSES}`]);
  const { wire } = await openSession(server.url);
  const running: string[] = [];
  let failure: WireMessage['error'];
  while (failure === undefined && running.length <= PROCESSES) {
    const id = `p${running.length}`;
    const { error } = await wire.request('process/start', startParams(id, ['/bin/cat'], { pipeStdin: true }));
    if (error === undefined) running.push(id);
    else failure = error;
  }
  expect(failure).toMatchObject({
    code: -32603,
    message: expect.stringContaining('Resource temporarily unavailable (os error 11)'),
  });
  const [first, second] = running as [string, string];
  await wire.request('process/write', { processId: first, chunk: btoa('still here\n'), writeId: '1' });
  await wire.next(notificationOf(first, 'process/output'), 'the echo');

  await wire.request('process/terminate', { processId: second });
  await wire.next(notificationOf(second, 'process/closed'), 'the end of the second');
  expect((await wire.request('process/start', startParams('again', ['/bin/true']))).error).toBeUndefined();
});
