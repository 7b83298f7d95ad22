import { readdirSync, readFileSync } from 'node:fs';
import type { Wire } from '@exec-server/testing';
import { expect, it } from 'vitest';
import { notificationOf, openSession, serve, startParams } from './session.js';

const STARTS = 2_000;
const AT_ONCE = 32;

const countDescriptors = (pid: number) => readdirSync(`/proc/${pid}/fd`).length;
/** Children that ended and were never waited for. */
const countZombies = (parent: number) =>
  readdirSync('/proc').filter((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'latin1');
      const [state, ppid] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return state === 'Z' && Number(ppid) === parent;
    } catch {
      return false;
    }
  }).length;

async function runOne(wire: Wire, processId: string, changes: object): Promise<void> {
  const { error } = await wire.request('process/start', startParams(processId, ['/bin/true'], changes));
  expect(error).toBeUndefined();
  await wire.next(notificationOf(processId, 'process/closed'), `the end of ${processId}`);
}

async function runMany(wire: Wire, name: string, count: number): Promise<void> {
  const queue = Array.from({ length: count }, (_, index) => index);
  const worker = async () => {
    for (let index = queue.pop(); index !== undefined; index = queue.pop()) {
      const changes = [{}, { pipeStdin: true }, { tty: true }][index % 3] ?? {};
      await runOne(wire, `${name}-${index}`, changes);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

it(`${STARTS} starts leave no descriptor and no zombie behind`, async () => {
  const server = await serve();
  const { wire } = await openSession(server.url);
  // What a server opens once, such as its guardian, it opens here.
  await runMany(wire, 'warm-up', AT_ONCE);
  const before = countDescriptors(server.pid);
  await runMany(wire, 'run', STARTS);
  expect(countDescriptors(server.pid)).toBe(before);
  expect(countZombies(server.pid)).toBe(0);
});
