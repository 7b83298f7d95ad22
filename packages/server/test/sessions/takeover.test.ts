import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createConnection, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { ExecServerOptions } from '@exec-server/server';
import { FaultProxy, openWire, type Wire, type WireMessage } from '@exec-server/testing';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { FakeClock } from '../support/fake-clock.js';
import { notificationOf, openServer, shellParams } from '../support/session.js';

const SIGN_OF_LIFE_MS = 1_000;

/** A server that is reached through a proxy, and whose clock stands still. */
async function listen(options: ExecServerOptions = {}) {
  const clock = new FakeClock();
  const { url } = await openServer({ clock, ...options }).listen('ws://127.0.0.1:0');
  const proxy = await FaultProxy.start(url);
  onTestFinished(() => proxy[Symbol.asyncDispose]());
  return { clock, proxy, url };
}

const initialize = (resumeSessionId?: string) => ({ clientName: 'test', resumeSessionId });
const attachedError = (id: string) => ({
  code: -32010,
  message: `session ${id} is already attached to another connection`,
});

async function open(url: string): Promise<Wire & { sessionId: string }> {
  const wire = await openWire(url);
  const { result } = await wire.request('initialize', initialize());
  wire.send({ method: 'initialized' });
  return Object.assign(wire, { sessionId: result?.sessionId as string });
}

/** Has the time for a sign of life pass once somebody waits for one. */
async function passSignOfLife(clock: FakeClock, timersBefore: number): Promise<void> {
  await vi.waitUntil(() => clock.pendingTimers > timersBefore);
  clock.advance(SIGN_OF_LIFE_MS);
}

/** Asks for the session of a connection that is dead. */
async function resumeDead(url: string, clock: FakeClock, sessionId: string): Promise<Wire> {
  const wire = await openWire(url);
  await wire.request('environment/status');
  const timers = clock.pendingTimers;
  const answer = wire.request('initialize', initialize(sessionId));
  await passSignOfLife(clock, timers);
  expect((await answer).result).toMatchObject({ sessionId });
  wire.send({ method: 'initialized' });
  return wire;
}

/** All that a process has printed. */
async function readLog(wire: Wire, processId: string): Promise<string> {
  const { result } = await wire.request('process/read', { processId, afterSeq: 0 });
  return ((result?.chunks ?? []) as { chunk: string }[]).map(({ chunk }) => atob(chunk)).join('');
}

describe('a connection that gives no sign of life', () => {
  test('loses its session after a second, and no output is lost', async () => {
    const { clock, proxy, url } = await listen();
    const old = await open(proxy.url);
    const script = 'i=0; while [ $i -lt 2000 ]; do i=$((i+1)); echo "line $i"; done; read x; echo "got $x"';
    await old.request('process/start', shellParams('p', script, { pipeStdin: true }));
    await old.next(notificationOf('p', 'process/output'), 'output');
    proxy.swallowAll();
    const wire = await resumeDead(url, clock, old.sessionId);
    await wire.request('process/write', { processId: 'p', chunk: btoa('it\n'), writeId: '1' });
    await wire.next(notificationOf('p', 'process/closed'), 'the end');
    const text = await readLog(wire, 'p');
    const lines = Array.from({ length: 2_000 }, (_, i) => `line ${i + 1}\n`).join('');
    expect(text).toBe(`${lines}got it\n`);
    old.terminate();
  });

  test.each([999, 1_000, 1_001])('keeps it for %i of 1,000 ms, or not', async (ms) => {
    const { clock, proxy, url } = await listen();
    const old = await open(proxy.url);
    proxy.swallowAll();
    const wire = await openWire(url);
    await wire.request('environment/status');
    const timers = clock.pendingTimers;
    const answer = wire.request('initialize', initialize(old.sessionId));
    await vi.waitUntil(() => clock.pendingTimers > timers);
    clock.advance(ms);
    await new Promise((resolve) => setImmediate(resolve));
    if (ms < SIGN_OF_LIFE_MS) {
      expect(wire.received.some(({ result }) => result?.sessionId !== undefined)).toBe(false);
      clock.advance(1);
    }
    expect((await answer).result).toMatchObject({ sessionId: old.sessionId });
    old.terminate();
  });

  test('loses it to one of many that want it at once', async () => {
    const { clock, proxy, url } = await listen();
    const old = await open(proxy.url);
    proxy.swallowAll();
    const wires = await Promise.all(Array.from({ length: 10 }, () => openWire(url)));
    await Promise.all(wires.map((wire) => wire.request('environment/status')));
    const timers = clock.pendingTimers;
    const answers = Promise.all(wires.map((wire) => wire.request('initialize', initialize(old.sessionId))));
    await vi.waitUntil(() => clock.pendingTimers > timers);
    // The last of them may still be on its way, and meets a connection that is alive.
    clock.advance(SIGN_OF_LIFE_MS);
    const settled = await withClock(clock, answers);
    expect(settled.filter(({ result }) => result?.sessionId === old.sessionId)).toHaveLength(1);
    expect(settled.flatMap(({ error }) => error ?? [])).toMatchObject(
      Array.from({ length: 9 }, () => attachedError(old.sessionId)),
    );
    old.terminate();
  });

  test('that wakes up is told why it has ended, and can do nothing to the session', async () => {
    const { clock, url } = await listen();
    const old = await open(url);
    await old.request('process/start', shellParams('p', 'read x; echo "got $x"', { pipeStdin: true }));
    // It reads nothing, so that no ping is answered; what it says still arrives.
    old.pause();
    const wire = await resumeDead(url, clock, old.sessionId);
    old.send({ id: 90, method: 'process/terminate', params: { processId: 'p' } });
    old.send({
      id: 91,
      method: 'process/write',
      params: { processId: 'p', chunk: btoa('old\n'), writeId: 'o' },
    });
    old.resume();
    expect(await old.closed).toMatchObject({
      code: 1008,
      reason: `session ${old.sessionId} was resumed by another connection`,
    });
    await wire.request('process/write', { processId: 'p', chunk: btoa('new\n'), writeId: 'n' });
    await wire.next(notificationOf('p', 'process/closed'), 'the end');
    expect(await readLog(wire, 'p')).toBe('got new\n');
  });

  test('loses it also to one that is gone by then, and the next one gets it', async () => {
    const { clock, proxy, url } = await listen();
    const old = await open(proxy.url);
    proxy.swallowAll();
    const hasty = await openWire(url);
    await hasty.request('environment/status');
    const timers = clock.pendingTimers;
    hasty.send({ id: 7, method: 'initialize', params: initialize(old.sessionId) });
    await vi.waitUntil(() => clock.pendingTimers > timers);
    hasty.terminate();
    await hasty.closed;
    clock.advance(SIGN_OF_LIFE_MS);
    const next = await openWire(url);
    const { result } = await next.request('initialize', initialize(old.sessionId));
    expect(result).toMatchObject({ sessionId: old.sessionId });
    old.terminate();
  });

  test('and ends while it is asked leaves its session at once', async () => {
    const { clock, url } = await listen();
    const old = await open(url);
    old.pause();
    const wire = await openWire(url);
    await wire.request('environment/status');
    const timers = clock.pendingTimers;
    const answer = wire.request('initialize', initialize(old.sessionId));
    await vi.waitUntil(() => clock.pendingTimers > timers);
    old.terminate();
    expect((await answer).result).toMatchObject({ sessionId: old.sessionId });
  });

  test('has what its successor sends behind `initialize` wait for its turn', async () => {
    const { clock, proxy, url } = await listen();
    const old = await open(proxy.url);
    proxy.swallowAll();
    const wire = await openWire(url);
    await wire.request('environment/status');
    const timers = clock.pendingTimers;
    wire.send({ id: 10, method: 'initialize', params: initialize(old.sessionId) });
    wire.send({ method: 'initialized' });
    const status = wire.request('environment/status');
    await passSignOfLife(clock, timers);
    expect((await status).result).toEqual({ status: 'ready' });
    expect(wire.received.map(({ id }) => id).slice(-2)).toEqual([10, expect.any(Number)]);
    old.terminate();
  });

  test('keeps its session on a server without the capability', async () => {
    const { proxy, url } = await listen({ disabledCapabilities: ['sessionTakeover'] });
    const old = await open(proxy.url);
    proxy.swallowAll();
    const wire = await openWire(url);
    const { error } = await wire.request('initialize', initialize(old.sessionId));
    expect(error).toMatchObject(attachedError(old.sessionId));
    old.terminate();
  });
});

test('a connection that is alive keeps its session, however often somebody wants it', async () => {
  const { url } = await openServer().listen('ws://127.0.0.1:0');
  const holder = await open(url);
  const wire = await openWire(url);
  for (let attempt = 0; attempt < 3; attempt++) {
    const { error } = await wire.request('initialize', initialize(holder.sessionId));
    expect(error).toMatchObject(attachedError(holder.sessionId));
  }
  expect((await holder.request('environment/status')).result).toEqual({ status: 'ready' });
  await holder.close();
  const { result } = await wire.request('initialize', initialize(holder.sessionId));
  expect(result).toMatchObject({ sessionId: holder.sessionId });
});

describe('over a Unix socket', () => {
  async function listenUnix() {
    const clock = new FakeClock();
    const directory = await mkdtemp(join(tmpdir(), 'takeover-'));
    onTestFinished(() => rm(directory, { recursive: true }));
    const path = join(directory, 'socket');
    await openServer({ clock }).listen(`unix://${path}`);
    return { clock, path };
  }

  /** A client that speaks lines; `onRequest` takes what the server asks. */
  async function connectLines(
    path: string,
    onRequest: (message: WireMessage, socket: Socket) => void = () => {},
  ) {
    const socket = createConnection(path);
    await once(socket, 'connect');
    onTestFinished(() => void socket.destroy());
    const answers: WireMessage[] = [];
    createInterface({ input: socket }).on('line', (line) => {
      const message = JSON.parse(line) as WireMessage;
      if (message.method === undefined) answers.push(message);
      else onRequest(message, socket);
    });
    return {
      socket,
      async request(method: string, params: unknown): Promise<WireMessage> {
        const id = answers.length + 1;
        socket.write(`${JSON.stringify({ id, method, params })}\n`);
        return vi.waitUntil(() => answers[id - 1]);
      },
    };
  }

  test('a client that answers nothing it is asked loses its session', async () => {
    const { clock, path } = await listenUnix();
    const asked: string[] = [];
    const old = await connectLines(path, ({ method }) => asked.push(method as string));
    const { result } = await old.request('initialize', { clientName: 'old', answersRequests: true });
    const next = await connectLines(path);
    const timers = clock.pendingTimers;
    const closed = once(old.socket, 'close');
    const answer = next.request('initialize', initialize(result?.sessionId as string));
    await passSignOfLife(clock, timers);
    expect((await answer).result).toMatchObject({ sessionId: result?.sessionId });
    expect(asked).toEqual(['client/status']);
    await closed;
  });

  test('a client that answers, whatever it says, keeps it', async () => {
    const { clock, path } = await listenUnix();
    const old = await connectLines(path, ({ id }, socket) =>
      socket.write(`${JSON.stringify({ id, error: { code: -32601, message: 'what?' } })}\n`),
    );
    const { result } = await old.request('initialize', { clientName: 'old', answersRequests: true });
    const next = await connectLines(path);
    const answer = next.request('initialize', initialize(result?.sessionId as string));
    expect((await withClock(clock, answer)).error).toMatchObject(attachedError(result?.sessionId as string));
  });

  test('a client that has not said that it answers is not asked, and keeps it', async () => {
    const { path } = await listenUnix();
    const asked: unknown[] = [];
    const old = await connectLines(path, ({ method }) => asked.push(method));
    const { result } = await old.request('initialize', initialize());
    const next = await connectLines(path);
    const { error } = await next.request('initialize', initialize(result?.sessionId as string));
    expect([error, asked]).toMatchObject([attachedError(result?.sessionId as string), []]);
  });
});

/** Moves time in small steps, with room for everybody between them, until there is an answer. */
async function withClock<T>(clock: FakeClock, answer: Promise<T>): Promise<T> {
  const timer = setInterval(() => clock.advance(SIGN_OF_LIFE_MS / 8), 20);
  try {
    return await answer;
  } finally {
    clearInterval(timer);
  }
}
