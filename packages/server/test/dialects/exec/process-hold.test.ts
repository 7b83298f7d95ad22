import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { InProcessWire } from '@exec-server/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { FakeClock } from '../../support/fake-clock.js';
import { notificationOf, openServer, openSession, shellParams, untilClosed } from '../../support/session.js';

/** More than pipes hold, and less than a server retains. */
const BYTES = 512 * 1024;

async function tempFile(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'hold-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  return join(directory, 'done');
}

/** Starts what writes more than its pipe holds once it is told to, and makes `file` when it has. */
async function startWriter(wire: InProcessWire, file: string, changes: object = {}): Promise<void> {
  const script = `echo ready; read -r go; head -c ${BYTES} /dev/zero; : > '${file}'`;
  await wire.request('process/start', shellParams('p', script, { pipeStdin: true, ...changes }));
  await wire.next(notificationOf('p', 'process/output'), 'ready');
}

const hold = (wire: InProcessWire, held: boolean, sessionId?: string) =>
  wire.request('process/hold', { processId: 'p', held, ...(sessionId !== undefined && { sessionId }) });

const go = (wire: InProcessWire) =>
  wire.request('process/write', { processId: 'p', chunk: btoa('go\n'), writeId: '1' });

/** Runs a process to its end that writes as much, on the same connection. */
async function runAnother(wire: InProcessWire, id: string): Promise<number> {
  await wire.request('process/start', shellParams(id, `head -c ${BYTES} /dev/zero`));
  return (await untilClosed(wire, id)).stdout.length;
}

describe('a process that is held', () => {
  it('waits, while others of its connection do not, and goes on when it is released', async () => {
    const wire = await openSession(openServer());
    const file = await tempFile();
    await startWriter(wire, file);
    expect((await hold(wire, true)).result).toEqual({});
    expect((await hold(wire, true)).result).toEqual({});
    await go(wire);
    expect(await runAnother(wire, 'q')).toBe(BYTES);
    expect(await runAnother(wire, 'r')).toBe(BYTES);
    expect(existsSync(file)).toBe(false);
    expect((await hold(wire, false)).result).toEqual({});
    const { stdout, exitCode } = await untilClosed(wire, 'p');
    expect([stdout.length, exitCode]).toEqual(['ready\n'.length + BYTES, 0]);
    expect((await hold(wire, true)).result).toEqual({});
    expect((await hold(wire, false)).result).toEqual({});
  });

  it('waits over a reconnect', async () => {
    const server = openServer();
    const wire = await openSession(server);
    const file = await tempFile();
    await startWriter(wire, file);
    await hold(wire, true);
    await wire.close();
    const again = await openSession(server, wire.sessionId);
    await go(again);
    expect(await runAnother(again, 'q')).toBe(BYTES);
    expect(existsSync(file)).toBe(false);
    await hold(again, false);
    await untilClosed(again, 'p');
  });

  it('goes on into its log when the session of its reader ends', async () => {
    const clock = new FakeClock();
    const server = openServer({ clock });
    const wire = await openSession(server);
    const file = await tempFile();
    await startWriter(wire, file, { keepAliveMs: 3_600_000 });
    await hold(wire, true);
    await go(wire);
    await wire.close();
    const other = await openSession(server);
    expect(await runAnother(other, 'q')).toBe(BYTES);
    expect(existsSync(file)).toBe(false);
    clock.advance(30_000);
    await expect.poll(() => existsSync(file), { timeout: 20_000 }).toBe(true);
  });

  it('goes on when the one who attached to it detaches', async () => {
    const server = openServer();
    const wire = await openSession(server);
    const file = await tempFile();
    await startWriter(wire, file);
    const other = await openSession(server);
    const { sessionId } = wire;
    await other.request('process/attach', { processId: 'p', sessionId, mode: 'control' });
    expect((await hold(other, true, sessionId)).result).toEqual({});
    await go(wire);
    expect(await runAnother(wire, 'q')).toBe(BYTES);
    expect(existsSync(file)).toBe(false);
    await other.request('process/detach', { processId: 'p', sessionId });
    expect((await untilClosed(wire, 'p')).exitCode).toBe(0);
  });

  it('can be ended', async () => {
    const wire = await openSession(openServer());
    const file = await tempFile();
    await startWriter(wire, file);
    await hold(wire, true);
    await go(wire);
    await wire.request('process/terminate', { processId: 'p' });
    await wire.next(notificationOf('p', 'process/exited'), 'process/exited');
    await hold(wire, false);
    await wire.next(notificationOf('p', 'process/closed'), 'process/closed');
  });
});

it('who only views a process cannot hold it, and nobody one that is not there', async () => {
  const server = openServer();
  const wire = await openSession(server);
  const file = await tempFile();
  await startWriter(wire, file);
  const viewer = await openSession(server);
  const { sessionId } = wire;
  await viewer.request('process/attach', { processId: 'p', sessionId, mode: 'view' });
  expect((await hold(viewer, true, sessionId)).error).toMatchObject({ code: -32600 });
  expect((await hold(viewer, true)).error).toMatchObject({ code: -32600, message: 'unknown process id p' });
});
