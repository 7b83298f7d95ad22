import { access, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createExecServer, type ExecServerOptions } from '@exec-server/server';
import {
  describeFault,
  type Fault,
  type FaultAction,
  FaultProxy,
  type MessagePredicate,
  randomFaults,
} from '@exec-server/testing';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { connectThrough, expectGapsTold, expectUnharmed, follow, numbered } from './recovery-workload.js';

/** Long for a machine that does other things besides, in milliseconds. */
const TIMEOUT_MS = 240_000;

async function listen(options: ExecServerOptions = {}, address = 'ws://127.0.0.1:0'): Promise<string> {
  const server = createExecServer(options);
  onTestFinished(() => server.close());
  return (await server.listen(address)).url;
}

const calls =
  (method: string): MessagePredicate =>
  (message) =>
    message.method === method;
const answers =
  (member: string): MessagePredicate =>
  ({ result }) =>
    result !== undefined && result !== null && member in result;

/** Where a connection can break, by what is being said. */
const PHASES: Readonly<Record<string, Pick<Fault, 'direction' | 'at'>>> = {
  'the start of a process': at('toServer', calls('process/start')),
  'the answer to a start': at('toClient', answers('processId')),
  output: at('toClient', calls('process/output')),
  'the exit, after output': at('toClient', calls('process/exited')),
  'the last word, after the exit': at('toClient', calls('process/closed')),
  'a write': at('toServer', calls('process/write')),
  'the answer to a write': at('toClient', answers('status')),
};

const RESUME_PHASES: Readonly<Record<string, Pick<Fault, 'direction' | 'at'>>> = {
  'the handshake of the connection': { direction: 'toServer', at: { bytes: 10 } },
  'its answer': { direction: 'toClient', at: { bytes: 10 } },
  initialize: at('toServer', calls('initialize')),
  'the answer to initialize': at('toClient', answers('sessionId')),
  initialized: at('toServer', calls('initialized')),
  'the question for what was missed': at('toServer', calls('process/read')),
  'the answer to it': at('toClient', answers('nextSeq')),
};

const ACTIONS: readonly FaultAction[] = ['cut', 'cutAfter', 'truncate', 'halfClose', 'strand', 'delay'];

function at(direction: Fault['direction'], matching: MessagePredicate): Pick<Fault, 'direction' | 'at'> {
  return { direction, at: { matching, name: 'that message' } };
}

describe.each(Object.entries(PHASES))('at %s', (_phase, place) => {
  test.each(ACTIONS)('%s', async (action) => {
    const proxy = await expectUnharmed(await listen(), [{ ...place, action }]);
    expect(proxy.pending).toEqual([]);
  });
});

describe.each(Object.entries(RESUME_PHASES))('while the session is resumed, at %s', (_phase, place) => {
  test.each(ACTIONS)('%s', async (action) => {
    const first: Fault = { connection: 1, direction: 'toClient', at: { message: 6 }, action: 'cut' };
    const second: Fault = { connection: 2, ...place, action, refuse: 1 };
    const proxy = await expectUnharmed(await listen(), [first, second]);
    expect(proxy.pending).toEqual([]);
  });
});

/** Plays the schedules of all seeds, a few at a time, and tells how many faults have struck. */
async function expectUnharmedBySeeds(url: string, count: number): Promise<number> {
  const seeds = Array.from({ length: count }, (_, index) => index + 1);
  let struck = 0;
  const work = async () => {
    for (let seed = seeds.pop(); seed !== undefined; seed = seeds.pop()) {
      const faults = randomFaults(seed);
      const play = expectUnharmed(url, faults, seed).catch((cause: unknown) => {
        const schedule = faults.map((fault) => `  ${describeFault(fault)}`).join('\n');
        throw new Error(`seed ${seed} fails:\n${schedule}\n${String(cause)}`, { cause });
      });
      const { pending } = await play;
      struck += faults.length - pending.length;
    }
  };
  await Promise.all(Array.from({ length: 4 }, work));
  return struck;
}

describe('random schedules: no byte is lost or doubled, and every outcome is true', () => {
  test('200 over WebSockets', { timeout: TIMEOUT_MS }, async () => {
    expect(await expectUnharmedBySeeds(await listen(), 200)).toBeGreaterThan(200);
  });

  test('20 over a Unix socket', { timeout: TIMEOUT_MS }, async () => {
    const directory = await mkdtemp(join(tmpdir(), 'recovery-'));
    onTestFinished(() => rm(directory, { recursive: true }));
    const url = await listen({}, `unix://${join(directory, 'socket')}`);
    expect(await expectUnharmedBySeeds(url, 20)).toBeGreaterThan(20);
  });
});

/** Two of the largest pieces that are read of a pipe, so that the end of any output is retained. */
const TWO_CHUNKS = { retainedOutputBytes: 2 * 64 * 1024 };
/** Less than most chunks, so that next to nothing is retained. */
const HARDLY_ANYTHING = { retainedOutputBytes: 4096 };

describe('beyond what the server retains', () => {
  test('what was missed is told exactly, and what follows is whole', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'recovery-'));
    onTestFinished(() => rm(directory, { recursive: true }));
    const [go, done, end] = ['go', 'done', 'end'].map((name) => join(directory, name)) as [
      string,
      string,
      string,
    ];
    const waitFor = (path: string) => `until [ -e ${path} ]; do sleep 0.01; done`;
    const script = `seq 1 500; ${waitFor(go)}; seq 501 100000; : > ${done}; ${waitFor(end)}; seq 100001 100500`;

    const proxy = await FaultProxy.start(await listen(TWO_CHUNKS));
    onTestFinished(() => proxy[Symbol.asyncDispose]());
    const machine = await connectThrough(proxy);
    onTestFinished(() => machine.close());
    const process = await machine.spawn(['/bin/sh', '-c', script]);
    const telling = follow(process);
    await process.waitFor({ line: '500' });
    proxy.cutAll(Number.POSITIVE_INFINITY);
    await writeFile(go, '');
    await vi.waitFor(() => access(done), { timeout: 20_000 });
    proxy.admitAll();
    await proxy.until((line) => line === 'connection 2');
    await writeFile(end, '');

    const told = await telling;
    expectGapsTold(told, numbered(100_500));
    expect(told.pieces[0]).toBe(numbered(500));
    expect(told.gaps).toHaveLength(1);
    expect(told.pieces[1]?.length).toBeGreaterThan(numbered(100_500).length - numbered(100_000).length);
    const result = await process.result();
    expect(result).toMatchObject({ exitCode: 0, missed: told.gaps });
  });

  test('random schedules: every gap is told, and there is none without', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const url = await listen(HARDLY_ANYTHING);
    let gaps = 0;
    for (let seed = 1; seed <= 40; seed++) {
      const faults = randomFaults(seed, {
        maxBytes: { toClient: 40_000 },
        actions: ['cut', 'truncate', 'strand'],
      });
      await using proxy = await FaultProxy.start(url, faults);
      const machine = await connectThrough(proxy);
      try {
        const told = await follow(await machine.spawn(['/usr/bin/seq', '1', '20000']));
        expectGapsTold(told, numbered(20_000));
        gaps += told.gaps.length;
      } finally {
        await machine.close();
      }
    }
    expect(gaps).toBeGreaterThan(0);
  });
});
