import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  connect,
  ExecServerError,
  LaggedError,
  type Machine,
  type ProcessEvent,
  type ProcessHandle,
} from '@exec-server/client';
import { createRandom, type Fault, FaultProxy } from '@exec-server/testing';
import { expect } from 'vitest';

/** Quick, so that 200 schedules do not wait for each other; the budget is that of a session. */
const RECONNECT = { minDelayMs: 1, maxDelayMs: 20, deadlineMs: 25_000 };

/** First connections that may fail before somebody gives up: more than any schedule spoils. */
const MAX_FIRST_ATTEMPTS = 20;

const WRITES = 12;
const MAX_WRITE_BYTES = 2_000;
const PRINTED_LINES = 4_000;

/** What a process told, put together from its events. */
export interface Told {
  readonly stdout: string;
  readonly stderr: string;
  /** Numbers of the events that came, or are said to be missing. */
  readonly seqs: readonly number[];
  /** Standard output between the gaps: one piece more than there are gaps. */
  readonly pieces: readonly string[];
  readonly gaps: readonly { readonly fromSeq: number; readonly toSeq: number }[];
  /** Events beside output, by their type. */
  readonly types: readonly string[];
}

/** Connects through a proxy that may spoil the first connections, too. */
export async function connectThrough(proxy: FaultProxy): Promise<Machine> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await connect(proxy.url, { reconnect: RECONNECT });
    } catch (error) {
      if (!(error instanceof ExecServerError) || !error.retryable || attempt >= MAX_FIRST_ATTEMPTS)
        throw error;
    }
  }
}

/** Follows a process to its end. */
export async function follow(process: ProcessHandle): Promise<Told> {
  const events = await collectEvents(process);
  const outputs = events.filter((event) => event.type === 'output');
  const gaps = events.filter((event) => event.type === 'gap');
  const textOf = (stream: string, fromSeq = 0, toSeq = Number.POSITIVE_INFINITY) =>
    Buffer.concat(
      outputs
        .filter((output) => output.stream === stream && output.seq > fromSeq && output.seq < toSeq)
        .map(({ data }) => data),
    ).toString();
  return {
    stdout: textOf('stdout'),
    stderr: textOf('stderr'),
    seqs: events.flatMap((event) => {
      if (event.type === 'failed') return [];
      if (event.type !== 'gap') return [event.seq];
      return Array.from({ length: event.toSeq - event.fromSeq + 1 }, (_, index) => event.fromSeq + index);
    }),
    pieces: [...gaps, undefined].map((gap, index) =>
      textOf('stdout', gaps[index - 1]?.toSeq ?? 0, gap?.fromSeq),
    ),
    gaps: gaps.map(({ fromSeq, toSeq }) => ({ fromSeq, toSeq })),
    types: events.map(({ type }) => type).filter((type) => type !== 'output'),
  };
}

/** All events; where the reader fell behind what is retained, there is a gap. */
async function collectEvents(process: ProcessHandle): Promise<ProcessEvent[]> {
  const events: ProcessEvent[] = [];
  for (let from: number | undefined; ; ) {
    try {
      for await (const event of process.events({ ...(from !== undefined && { from }) })) events.push(event);
      return events;
    } catch (error) {
      if (!(error instanceof LaggedError)) throw error;
      const { fromSeq, toSeq } = error;
      events.push({ type: 'gap', fromSeq, toSeq });
      from = toSeq;
    }
  }
}

/** What `seq 1 to` prints. */
export function numbered(to: number): string {
  return Array.from({ length: to }, (_, index) => `${index + 1}\n`).join('');
}

/**
 * Does what clients do, through a proxy with these faults, and checks that it is as without them: every byte once and
 * in order, every start once, every outcome true.
 */
export async function expectUnharmed(
  serverUrl: string,
  faults: readonly Fault[],
  seed = 0,
): Promise<FaultProxy> {
  const directory = await mkdtemp(join(tmpdir(), 'recovery-'));
  await using proxy = await FaultProxy.start(serverUrl, faults);
  try {
    const machine = await connectThrough(proxy);
    try {
      await Promise.all([
        expectEcho(machine, directory, seed),
        expectPrint(machine, directory),
        expectRun(machine, directory),
      ]);
    } finally {
      await machine.close();
    }
    return proxy;
  } finally {
    await rm(directory, { recursive: true });
  }
}

/** What is written comes back, and ends where it was ended. */
async function expectEcho(machine: Machine, directory: string, seed: number): Promise<void> {
  const random = createRandom(seed);
  const starts = join(directory, 'echo');
  const process = await machine.spawn(['/bin/sh', '-c', `echo x >> ${starts}; cat; exit 7`], {
    stdin: 'pipe',
  });
  const telling = follow(process);
  let written = '';
  for (let count = 0; count < WRITES; count++) {
    const line = `${count} ${'x'.repeat(Math.floor(random() * MAX_WRITE_BYTES))}\n`;
    written += line;
    await process.stdin.write(line);
  }
  await process.stdin.end();
  const told = await telling;
  expect(told.stdout).toBe(written);
  expectWhole(told);
  expect(process.outcome).toEqual({ kind: 'exited', exitCode: 7 });
  expect(await readFile(starts, 'utf8')).toBe('x\n');
}

/** Much is printed on both streams, without being asked. */
async function expectPrint(machine: Machine, directory: string): Promise<void> {
  const starts = join(directory, 'print');
  const script = `echo x >> ${starts}; seq 1 ${PRINTED_LINES}; seq 1 ${PRINTED_LINES} >&2; kill -9 $$`;
  const process = await machine.spawn(['/bin/sh', '-c', script]);
  const told = await follow(process);
  expect(told.stdout).toBe(numbered(PRINTED_LINES));
  expect(told.stderr).toBe(numbered(PRINTED_LINES));
  expectWhole(told);
  expect(process.outcome).toEqual({ kind: 'signaled', signal: 'SIGKILL', exitCode: 137 });
  expect(await readFile(starts, 'utf8')).toBe('x\n');
}

/** Three commands, one after the other. */
async function expectRun(machine: Machine, directory: string): Promise<void> {
  const starts = join(directory, 'run');
  for (const exitCode of [0, 1, 2]) {
    const script = `echo ${exitCode} >> ${starts}; cat; exit ${exitCode}`;
    const result = await machine.run(['/bin/sh', '-c', script], { input: `input ${exitCode}` });
    expect(result).toMatchObject({ exitCode, droppedBytes: 0, missed: [], outputOpen: false });
    expect(result.stdout.text()).toBe(`input ${exitCode}`);
  }
  expect(await readFile(starts, 'utf8')).toBe('0\n1\n2\n');
}

function expectWhole(told: Told): void {
  expectCounted(told);
  expect(told.types).toEqual(['exited', 'closed']);
}

/** Every event came once, or is said to be missing. */
function expectCounted({ seqs, types }: Told): void {
  expect(seqs).toEqual(seqs.map((_, index) => index + 1));
  expect(types.slice(-2)).toEqual(['exited', 'closed']);
}

/** What came is the beginning, the end, and whatever lies between gaps that are told, each at its place. */
export function expectGapsTold(told: Told, printed: string): void {
  expectCounted(told);
  let end = 0;
  for (const [index, piece] of told.pieces.entries()) {
    const isLast = index === told.pieces.length - 1;
    const at = isLast ? printed.length - piece.length : printed.indexOf(piece, end);
    expect(printed.slice(at, at + piece.length)).toBe(piece);
    // A gap stands for something that is missing, and without one nothing is.
    if (index === 0) expect(at).toBe(0);
    else if (piece !== '' || isLast) expect(at).toBeGreaterThan(end);
    end = at + piece.length;
  }
  expect(end).toBe(printed.length);
}
