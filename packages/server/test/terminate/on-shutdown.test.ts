import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import type { Launcher } from '../../src/native/launch.js';
import { nameProcesses } from '../../src/native/process-tree.js';
import type { ManagedProcess } from '../../src/process/managed-process.js';
import type { ProcessRegistry } from '../../src/process/process-registry.js';
import type { SessionRegistry } from '../../src/sessions/session-registry.js';
import { silentLogger } from '../../src/telemetry/logger.js';
import type { TreeRoot } from '../../src/terminate/kill-trees.js';
import { terminateOnShutdown } from '../../src/terminate/on-shutdown.js';
import { FakeClock } from '../support/fake-clock.js';

const GRACE_MS = 1_500;

/** A process with a number that nobody has, and an end of which is decided here: no real one survives its kill. */
function processThatEnds(recorded: Promise<unknown>): ManagedProcess {
  const tree: TreeRoot = {
    pid: 2 ** 22 + 1,
    reaped: false,
    pidForgotten: false,
    cgroup: null,
    mark: null,
    signalGroup: () => false,
  };
  return { ...tree, recorded } as ManagedProcess;
}

function shutDown(recorded: Promise<unknown>, launcher: Pick<Launcher, 'findUnclaimed'> = {}) {
  const clock = new FakeClock();
  const processes = { processes: () => [processThatEnds(recorded)].values() } as ProcessRegistry;
  const sessions = { endAll() {} } as SessionRegistry;
  let over = false;
  const options = { launcher, clock, logger: silentLogger, graceMs: GRACE_MS };
  const done = terminateOnShutdown(sessions, processes, options);
  void done.then(() => {
    over = true;
  });
  return { clock, done, isOver: () => over };
}

describe('a server that ends', () => {
  it('waits for a child that does not go until the grace is over, and no longer', async () => {
    const { clock, done, isOver } = shutDown(new Promise(() => {}));
    clock.advance(GRACE_MS - 1);
    await new Promise(setImmediate);
    expect(isOver()).toBe(false);
    clock.advance(1);
    await done;
  });

  it('does not wait for those that are gone, and leaves no timer', async () => {
    const { clock, done } = shutDown(Promise.resolve());
    await done;
    expect(clock.pendingTimers).toBe(0);
  });

  it('ends who came from some process of it, and nothing says from which', async () => {
    const orphan = spawn('/bin/sleep', ['300'], { detached: true });
    const exit = once(orphan, 'exit');
    await once(orphan, 'spawn');
    const { clock, done } = shutDown(Promise.resolve(), {
      findUnclaimed: () => nameProcesses([orphan.pid!]),
    });
    expect(await exit).toEqual([null, 'SIGKILL']);
    // It is looked for again, before the grace is over, when the first look was too early to find it gone.
    clock.advance(GRACE_MS - 1);
    await done;
  });
});
