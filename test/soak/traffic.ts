import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ExecServerError, type Machine } from '@exec-server/client';
import { createRandom, FaultProxy, openWire, randomFaults } from '@exec-server/testing';
import { expect } from 'vitest';
import {
  connectThrough,
  expectGapsTold,
  expectUnharmed,
  follow,
  numbered,
} from '../e2e/recovery-workload.js';

const MAX_FILE_BYTES = 300_000;
const MAX_BODY_BYTES = 400_000;
const PTY_LINES = 3_000;
/** Lines of a stream that is larger than what the server retains. */
const LONG_STREAM_LINES = 250_000;
const VIEWERS = 3;

/** One kind of use. It checks every byte that it gets, and leaves nothing behind. */
export type Traffic = (serverUrl: string, seed: number) => Promise<void>;

const checksum = (data: Uint8Array) => createHash('sha256').update(data).digest('hex');

/** Does something with a machine behind a proxy that cuts. */
async function useMachine(
  url: string,
  seed: number,
  use: (machine: Machine) => Promise<void>,
): Promise<void> {
  await using proxy = await FaultProxy.start(url, randomFaults(seed, { maxBytes: { toClient: 200_000 } }));
  const machine = await connectThrough(proxy);
  try {
    await use(machine);
  } finally {
    await machine.close();
  }
}

/** A call that is not repeated by itself may end with its connection. Answers nothing then. */
async function attempt<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    const isCut = error instanceof ExecServerError && ['connection_lost', 'http'].includes(error.code);
    if (!isCut) throw error;
    return undefined;
  }
}

/** Echoes, prints and runs: nothing may be missing at all, because everything fits into what is retained. */
const processes: Traffic = async (url, seed) => {
  await expectUnharmed(url, randomFaults(seed), seed);
};

/** More output than is retained, with cuts in it, and some who only watch. What is missing is told to each. */
const viewers: Traffic = (url, seed) =>
  useMachine(url, seed, async (machine) => {
    const script = `read start; seq 1 ${LONG_STREAM_LINES}`;
    const process = await machine.spawn(['/bin/sh', '-c', script], { stdin: 'pipe' });
    const watchers = Array.from({ length: VIEWERS }, (_, index) =>
      useMachine(url, seed * VIEWERS + index, async (watcher) => {
        const options = { mode: 'view', ...(process.sessionId && { sessionId: process.sessionId }) } as const;
        const watched = await attempt(watcher.attach(process.id, options));
        if (watched !== undefined) expectGapsTold(await follow(watched), numbered(LONG_STREAM_LINES));
      }),
    );
    const telling = follow(process);
    await process.stdin.write('\n');
    expectGapsTold(await telling, numbered(LONG_STREAM_LINES));
    await Promise.all(watchers);
  });

const terminals: Traffic = (url, seed) =>
  useMachine(url, seed, async (machine) => {
    const terminal = await machine.pty(['/usr/bin/seq', '1', String(PTY_LINES)], { cols: 80, rows: 24 });
    const { exitCode, stdout } = await terminal.result();
    expect(exitCode).toBe(0);
    expect(stdout.text()).toBe(numbered(PTY_LINES).replaceAll('\n', '\r\n'));
  });

const files: Traffic = async (url, seed) => {
  const directory = await mkdtemp(join(tmpdir(), 'soak-'));
  const random = createRandom(seed);
  try {
    await useMachine(url, seed, async ({ fs }) => {
      for (let index = 0; index < 6; index++) {
        const path = join(directory, `file-${index}`);
        const data = randomBytes(Math.floor(random() * MAX_FILE_BYTES));
        let isWritten = false;
        while (!isWritten) isWritten = (await attempt(fs.writeFile(path, data).then(() => true))) ?? false;
        const read = await attempt(fs.readFile(path));
        if (read !== undefined) expect(checksum(read)).toBe(checksum(data));
      }
    });
  } finally {
    await rm(directory, { recursive: true });
  }
};

const requests: Traffic = async (url, seed) => {
  const random = createRandom(seed);
  const bodies = Array.from({ length: 6 }, () => randomBytes(Math.floor(random() * MAX_BODY_BYTES)));
  const origin = createServer((request, response) => response.end(bodies[Number(request.url?.slice(1))]));
  origin.listen(0, '127.0.0.1');
  await once(origin, 'listening');
  const { port } = origin.address() as AddressInfo;
  try {
    await useMachine(url, seed, async ({ fetch }) => {
      for (const [index, body] of bodies.entries()) {
        const get = async () =>
          new Uint8Array(await (await fetch(`http://127.0.0.1:${port}/${index}`)).arrayBuffer());
        const got = await attempt(get());
        if (got !== undefined) expect(checksum(got)).toBe(checksum(body));
      }
    });
  } finally {
    origin.close();
  }
};

/** Clients that start something, open something and are never seen again; the server has to clean up. */
const deserters: Traffic = async (url) => {
  const wire = await openWire(url);
  await wire.request('initialize', { clientName: 'deserter' });
  wire.send({ method: 'initialized' });
  const common = { cwd: 'file:///tmp', env: { PATH: '/usr/bin:/bin' } };
  const argv = ['/bin/sh', '-c', 'while :; do echo still here; sleep 0.1; done'];
  for (const tty of [false, true])
    await wire.request('process/start', { ...common, processId: `left-${tty}`, argv, tty });
  await wire.request('fs/open', { handleId: 'left', path: 'file:///etc/passwd' });
  wire.send({ id: 'poll', method: 'process/read', params: { processId: 'left-false', waitMs: 60_000 } });
  wire.terminate();
};

export const TRAFFIC: Readonly<Record<string, Traffic>> = {
  processes,
  viewers,
  terminals,
  files,
  requests,
  deserters,
};
