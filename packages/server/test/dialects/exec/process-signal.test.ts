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
  await wire.request('process/start', shellParams('p', 'trap "exit 7" INT; echo up; sleep 30'));
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

it('knows no other name', async () => {
  const wire = await openSession(openServer());
  const { error } = await wire.request('process/signal', { processId: 'p', signal: 'kill' });
  expect(error?.code).toBe(-32602);
});
