import { writeSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { probeCgroups } from '@exec-server/server';
import { fixture, type Wire, waitForProcessGone } from '@exec-server/testing';
import { describe, expect, it } from 'vitest';
import { firstOutput, openSession, serve, startParams } from './session.js';

/** The kernel tells nobody that a cgroup was removed, so that is asked for again. */
const POLL_INTERVAL_MS = 10;
const PRINT_PID = ['/bin/sh', '-c', 'echo $$; exec sleep 300'];

/** The pid that the shell prints of its job, among whatever else it says on its terminal. */
async function printedJob(wire: Wire, processId: string): Promise<number> {
  for (let printed = ''; ; ) {
    printed += await firstOutput(wire, processId);
    const [, pid] = /job (\d+)\./.exec(printed) ?? [];
    if (pid !== undefined) return Number(pid);
  }
}

describe('SIGKILL of the server', () => {
  it('leaves no child behind: pipes, ptys, groups, and descendants in sessions of their own', async () => {
    const server = await serve();
    const { wire } = await openSession(server.url);
    await wire.request('process/start', startParams('pipe', PRINT_PID));
    await wire.request('process/start', startParams('pty', PRINT_PID, { tty: true }));
    await wire.request('process/start', startParams('setsid', [fixture('setsid-grandchild')]));
    await wire.request('process/start', startParams('left', [fixture('fork-and-exit')]));
    // An interactive shell puts its jobs into groups of their own.
    const job = ['bash', '-ic', 'sleep 300 >/dev/null 2>&1 & printf "job %d.\\n" "$!"; wait'];
    await wire.request('process/start', startParams('job', job, { tty: true }));
    const ids = ['pipe', 'pty', 'setsid', 'left'];
    const pids = await Promise.all(ids.map(async (id) => Number(await firstOutput(wire, id))));
    pids.push(await printedJob(wire, 'job'));
    expect(pids.every((pid) => pid > 1)).toBe(true);
    server.kill('SIGKILL');
    await server.exited;
    await Promise.all(pids.map((pid) => waitForProcessGone(pid)));
  });
});

describe('SIGKILL of a server that makes cgroups', () => {
  it('leaves no daemon behind, and none of its cgroups', async (test) => {
    const support = probeCgroups();
    if (!support.usable) {
      writeSync(process.stderr.fd, `SKIPPED: ${test.task.name} needs cgroups: ${support.reason}\n`);
      return test.skip('needs cgroups');
    }
    const server = await serve();
    const { wire } = await openSession(server.url);
    await wire.request('process/start', startParams('p', [fixture('daemon')]));
    const [, daemon] = /left (\d+)/.exec(await firstOutput(wire, 'p'))!;
    const membership = await readFile(`/proc/${daemon}/cgroup`, 'utf8');
    const [, home] = /^0::.*\/(exec-server-[^/]+)\/\d+$/m.exec(membership)!;
    server.kill('SIGKILL');
    await server.exited;
    await waitForProcessGone(Number(daemon));
    while ((await readdir(support.directory)).includes(home!)) await delay(POLL_INTERVAL_MS);
  });
});

describe.each(['SIGTERM', 'SIGINT'] as const)('%s', (signal) => {
  it('ends the children and the server, with code 0 and a goodbye', async () => {
    const server = await serve();
    const { wire } = await openSession(server.url);
    await wire.request('process/start', startParams('p', [fixture('ignore-sigterm')]));
    await wire.request('process/start', startParams('q', PRINT_PID, { tty: true }));
    const pid = Number(await firstOutput(wire, 'q'));
    server.kill(signal);
    expect(await server.exited).toEqual({ code: 0, signal: null });
    await waitForProcessGone(pid);
    expect(await wire.closed).toEqual({ code: 1001, reason: 'the server is shutting down' });
  });
});
