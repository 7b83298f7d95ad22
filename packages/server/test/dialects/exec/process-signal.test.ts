import { expect, it } from 'vitest';
import {
  openServer,
  openSession,
  shellParams,
  startParams,
  untilClosed,
  untilPrinted,
} from '../../support/session.js';

const interrupt = (processId: string) => ({ processId, signal: 'interrupt' });

it('interrupts the whole group', async () => {
  const wire = await openSession(openServer());
  // The child says when it is there: a shell loses signals between its fork and the program.
  const script = 'trap "exit 7" INT; sh -c "echo up; exec sleep 30"';
  await wire.request('process/start', shellParams('p', script));
  await untilPrinted(wire, 'p', 'up');
  expect((await wire.request('process/signal', interrupt('p'))).result).toEqual({});
  expect((await untilClosed(wire, 'p')).exitCode).toBe(7);
});

it('kills a program that does not catch it', async () => {
  const wire = await openSession(openServer());
  await wire.request('process/start', startParams('p', ['/bin/sleep', '30']));
  await wire.request('process/signal', interrupt('p'));
  expect((await untilClosed(wire, 'p')).exitCode).toBe(130);
});

it('is no error for an exited or unknown process', async () => {
  const wire = await openSession(openServer());
  await wire.request('process/start', shellParams('p', 'true'));
  await untilClosed(wire, 'p');
  expect((await wire.request('process/signal', interrupt('p'))).result).toEqual({});
  expect((await wire.request('process/signal', interrupt('none'))).result).toEqual({});
});

it.each([
  ['SIGTERM', 143],
  ['SIGUSR1', 138],
  ['SIGKILL', 137],
])('sends %s', async (signal, exitCode) => {
  const wire = await openSession(openServer());
  await wire.request('process/start', startParams('p', ['/bin/sleep', '30']));
  expect((await wire.request('process/signal', { processId: 'p', signal })).result).toEqual({});
  const { params } = await wire.next(({ method }) => method === 'process/exited', 'the exit');
  expect(params).toMatchObject({ exitCode, signal });
});

it('knows no name that is none', async () => {
  const wire = await openSession(openServer());
  const { error } = await wire.request('process/signal', { processId: 'p', signal: 'kill' });
  expect(error?.code).toBe(-32602);
});
