import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { SIGNAL_NAMES } from '@exec-server/protocol';
import { expect, it } from 'vitest';
import { until } from '../../native/launch-helper.js';
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

/** Signals that no program catches, and what they do. */
const UNCATCHABLE = ['SIGKILL', 'SIGSTOP'];

it.each(SIGNAL_NAMES.filter((name) => !UNCATCHABLE.includes(name)))(
  '%s reaches a program that catches it',
  async (signal) => {
    const wire = await openSession(openServer());
    // The shell's own reading is what a signal interrupts: it has no child that would get it, too.
    const script = `trap 'echo caught; exit 3' ${constants.signals[signal]}; echo up; while :; do read -r line; done`;
    await wire.request('process/start', shellParams('p', script, { pipeStdin: true }));
    await untilPrinted(wire, 'p', 'up');
    expect((await wire.request('process/signal', { processId: 'p', signal })).result).toEqual({});
    const { stdout, exitCode } = await untilClosed(wire, 'p');
    expect([stdout.toString(), exitCode]).toEqual(['up\ncaught\n', 3]);
  },
);

it('stops a process and lets it go on', async () => {
  const wire = await openSession(openServer());
  const { result } = await wire.request('process/start', startParams('p', ['/bin/sleep', '30']));
  const status = `/proc/${Number(result?.pid)}/status`;
  const state = () => /^State:\s+(\S)/m.exec(readFileSync(status, 'utf8'))?.[1];
  await wire.request('process/signal', { processId: 'p', signal: 'SIGSTOP' });
  await until(() => state() === 'T');
  await wire.request('process/signal', { processId: 'p', signal: 'SIGCONT' });
  await until(() => state() === 'S');
});

it('the name of a signal that ended a process can be sent', async () => {
  const wire = await openSession(openServer());
  await wire.request('process/start', startParams('p', ['/bin/sleep', '30']));
  await wire.request('process/signal', { processId: 'p', signal: 'SIGPOLL' });
  const { params } = await wire.next(({ method }) => method === 'process/exited', 'the exit');
  expect(params).toMatchObject({ signal: 'SIGPOLL' });
});

it('knows no name that is none', async () => {
  const wire = await openSession(openServer());
  const { error } = await wire.request('process/signal', { processId: 'p', signal: 'kill' });
  expect(error?.code).toBe(-32602);
});
