import { isRunning, waitForProcessGone } from '@exec-server/testing';
import { describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../src/clock.js';
import { createExecServer } from '../../src/exec-server.js';
import { ANONYMOUS_PRINCIPAL } from '../../src/listen/principal.js';
import { OsError } from '../../src/os-error.js';
import { ProcessRegistry } from '../../src/process/process-registry.js';
import { Session } from '../../src/sessions/session.js';
import { createLogger } from '../../src/telemetry/create-logger.js';
import type { TreeRoot } from '../../src/terminate/kill-trees.js';
import { terminateOnSessionEnd } from '../../src/terminate/on-session-end.js';
import { FakeClock } from '../support/fake-clock.js';
import { openServer, openSession, startParams, untilClosed, untilPrinted } from '../support/session.js';

const sleeper = (processId: string, changes: object = {}) =>
  startParams(processId, ['/bin/sleep', '60'], changes);

async function startSleeper(wire: Awaited<ReturnType<typeof openSession>>, id: string, changes: object = {}) {
  const { result } = await wire.request('process/start', sleeper(id, changes));
  return result?.pid as number;
}

describe('keepAliveMs', () => {
  it('lets a process outlive its session by that much, and no longer', async () => {
    const clock = new FakeClock();
    const server = openServer({ clock });
    const owner = await openSession(server);
    const kept = await startSleeper(owner, 'kept', { keepAliveMs: 10_000 });
    const bound = await startSleeper(owner, 'bound');
    await owner.close();
    clock.advance(30_000);
    await waitForProcessGone(bound);
    expect(isRunning(kept)).toBe(true);
    clock.advance(9_999);
    expect(isRunning(kept)).toBe(true);
    clock.advance(1);
    await waitForProcessGone(kept);
    const other = await openSession(server);
    expect((await other.request('process/list', { scope: 'all' })).result).toEqual({ processes: [] });
  });

  it('keeps it listed, attachable and drivable', async () => {
    const clock = new FakeClock();
    const server = openServer({ clock });
    const owner = await openSession(server);
    const params = startParams('job', ['/bin/cat'], {
      pipeStdin: true,
      keepAliveMs: 60_000,
      tags: { a: 'b' },
    });
    await owner.request('process/start', params);
    await owner.close();
    clock.advance(30_000);
    const other = await openSession(server);
    const { result } = await other.request('process/list', { scope: 'all', tags: { a: 'b' } });
    expect(result?.processes).toMatchObject([
      { processId: 'job', sessionId: owner.sessionId, running: true },
    ]);
    const target = { processId: 'job', sessionId: owner.sessionId };
    await other.request('process/attach', { ...target, mode: 'control' });
    await other.request('process/write', { ...target, chunk: btoa('hello'), writeId: '1' });
    await untilPrinted(other, 'job', 'hello');
    await other.request('process/closeStdin', target);
    expect((await untilClosed(other, 'job')).exitCode).toBe(0);
  });

  it('does not outlive the server', async () => {
    const clock = new FakeClock();
    const server = createExecServer({ clock });
    const owner = await openSession(server);
    const kept = await startSleeper(owner, 'kept', { keepAliveMs: 1e12 });
    await owner.close();
    clock.advance(30_000);
    await server.close();
    expect(isRunning(kept)).toBe(false);
  });
});

describe('who is out of reach', () => {
  const EPERM = 1;
  /** Above what the kernel gives out. */
  const NOBODY = 2 ** 22 + 1;

  /** A tree whose root has become another user's, which root itself could still reach. */
  const outOfReach: TreeRoot = {
    pid: NOBODY,
    reaped: false,
    pidForgotten: false,
    cgroup: null,
    mark: null,
    signalGroup: () => {
      throw new OsError(EPERM, 'kill');
    },
  };

  async function logEndOf(trees: readonly TreeRoot[], atOnce: boolean): Promise<object[]> {
    const lines: object[] = [];
    const destination = { write: (line: string) => void lines.push(JSON.parse(line) as object) };
    const logger = createLogger({ level: 'debug', format: 'json', destination });
    const session = new Session('s1', ANONYMOUS_PRINCIPAL, () => []);
    for (const tree of trees) session.trees.add(tree);
    terminateOnSessionEnd(new ProcessRegistry(), [session], { clock: systemClock, logger, atOnce });
    if (trees.length > 0) await vi.waitFor(() => expect(lines).not.toEqual([]));
    return lines;
  }

  it.each([true, false])('is logged, because nobody is left to be told (at once: %s)', async (atOnce) => {
    expect(await logEndOf([outOfReach], atOnce)).toMatchObject([
      { level: 'warn', sessionIds: ['s1'], msg: 'what a session left running could not all be ended' },
    ]);
    expect(await logEndOf([], atOnce)).toEqual([]);
  });
});
