import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  isRunning,
  type RunningServer,
  startServer,
  type Wire,
  waitForProcessGone,
} from '@exec-server/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { firstOutput, notificationOf, openSession, startParams } from '../e2e/session.js';
import { BUILT_COMMAND } from './support.js';

const DESCRIPTORS = 64;
const NONE_LEFT = /os error 24/;
/** How long a session without a connection is kept here, in milliseconds. */
const DETACHED_MS = 1_000;

/** Prints the numbers of itself, of a child in its group, and of one in a session of its own. */
const TREE = `
trap '' TERM
sleep 300 </dev/null >/dev/null 2>&1 & near=$!
setsid sleep 300 </dev/null >/dev/null 2>&1 & far=$!
echo "$$ $near $far"
while :; do wait; done`;
/** Leaves a child in the group and ends. */
const LEAVE = 'sleep 300 </dev/null >/dev/null 2>&1 & echo "$!"';

const MODES = [
  { mode: 'cgroups', flags: [], args: [], tty: true },
  { mode: 'no cgroups', flags: [], args: ['--cgroups', 'false'], tty: true },
  // Without addons neither libc nor terminals can be reached: the portable launcher takes over.
  { mode: 'the portable launcher', flags: ['--no-addons'], args: [], tty: false },
];

async function serve(
  { flags, args }: (typeof MODES)[number],
  ...more: readonly string[]
): Promise<RunningServer> {
  const limited = ['/bin/sh', '-c', `ulimit -n ${DESCRIPTORS}; exec "$@"`, 'sh'];
  const server = await startServer({
    command: [...limited, process.execPath, ...flags, BUILT_COMMAND],
    args: [...args, ...more, '--detached-session-ms', String(DETACHED_MS)],
  });
  onTestFinished(async () => void (await server.stop()));
  return server;
}

/** Takes every descriptor that the server has left; those of whatever ends later are free again. */
async function takeDescriptors(wire: Wire): Promise<void> {
  const path = 'file:///etc/passwd';
  for (;;) {
    const handleId = randomBytes(8).toString('hex');
    const { error } = await wire.request('fs/open', { handleId, path, mode: 'read' });
    if (error === undefined) continue;
    expect(error.message).toMatch(NONE_LEFT);
    return;
  }
}

async function start(wire: Wire, id: string, script: string, changes: object = {}): Promise<number[]> {
  const { error } = await wire.request('process/start', startParams(id, ['/bin/sh', '-c', script], changes));
  expect(error).toBeUndefined();
  return (await firstOutput(wire, id)).trim().split(' ').map(Number);
}

const untilClosed = (wire: Wire, id: string) =>
  wire.next(notificationOf(id, 'process/closed'), `the end of ${id}`);

async function untilGone(pids: readonly number[]): Promise<void> {
  await Promise.all(pids.map((pid) => waitForProcessGone(pid)));
}

describe.each(MODES)('without a descriptor left, with $mode,', (mode) => {
  const { tty } = mode;

  it('process/terminate ends a process with everything it started: at once, waited for, and after its grace', async () => {
    const server = await serve(mode);
    const { wire } = await openSession(server.url);
    const ways = {
      atOnce: {},
      waitedFor: { wait: true },
      gracefully: { mode: { graceful: { timeoutMs: 50 } } },
    };
    const trees = new Map<string, number[]>();
    for (const way of Object.keys(ways)) trees.set(way, await start(wire, way, TREE, { tty }));
    for (const [processId, params] of Object.entries(ways)) {
      const pids = trees.get(processId)!;
      await takeDescriptors(wire);
      const { result } = await wire.request('process/terminate', { processId, ...params });
      expect(result).toMatchObject({ running: true, pids: expect.arrayContaining(pids) });
      await untilGone(pids);
      await untilClosed(wire, processId);
    }
  });

  it('a time limit ends a process with everything it started', async () => {
    const server = await serve(mode);
    for (let timeoutMs = 1_000; ; timeoutMs *= 2) {
      const { wire } = await openSession(server.url);
      const pids = await start(wire, 'p', TREE, { timeoutMs });
      await takeDescriptors(wire);
      const isInTime = pids.every(isRunning);
      await untilGone(pids);
      await untilClosed(wire, 'p');
      // Otherwise a busy machine took longer to take the descriptors than the process was given.
      if (isInTime) return;
      wire.terminate();
      await wire.closed;
    }
  });

  it('what a process left is looked for, and ends on request and with its session', async () => {
    const server = await serve(mode);
    const { wire: other } = await openSession(server.url);
    const { wire } = await openSession(server.url);
    const [left] = await start(wire, 'p', LEAVE);
    const later = [...(await start(wire, 'q', LEAVE)), ...(await start(wire, 'r', TREE, { tty }))];
    await untilClosed(wire, 'p');
    await untilClosed(wire, 'q');
    await takeDescriptors(other);
    const { result } = await wire.request('process/terminate', { processId: 'p', leftovers: true });
    expect(result).toEqual({ running: false, pids: [left] });
    await untilGone([left!]);
    wire.terminate();
    // Its connection was one of the descriptors.
    await takeDescriptors(other);
    await untilGone(later);
    expect((await other.request('environment/status')).result).toBeDefined();
  });

  it('TERM ends the processes and the server', async () => {
    const auditLog = join(await mkdtemp(join(tmpdir(), 'ends-')), 'audit.jsonl');
    const server = await serve(mode, '--audit-log', auditLog);
    const { wire } = await openSession(server.url);
    const pids = [...(await start(wire, 'p', TREE, { tty })), ...(await start(wire, 'q', LEAVE))];
    await untilClosed(wire, 'q');
    await takeDescriptors(wire);
    server.kill('SIGTERM');
    expect(await server.exited).toEqual({ code: 0, signal: null });
    expect(pids.filter(isRunning)).toEqual([]);
    const records = (await readFile(auditLog, 'utf8')).trim().split('\n');
    const ended = records.map((line) => JSON.parse(line)).filter(({ event }) => event === 'process-ended');
    expect(ended.map(({ processId }) => processId)).toEqual(['q', 'p']);
  });
});
