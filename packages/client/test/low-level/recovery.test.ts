import type { Transport } from '@exec-server/rpc';
import { connectWebSocket } from '@exec-server/rpc/node';
import { createExecServer, type ExecServer, type ExecServerOptions } from '@exec-server/server';
import { afterEach, describe, expect, test } from 'vitest';
import type { Dialer } from '../../src/dial/dialer.js';
import type { ExecServerError } from '../../src/errors.js';
import { ExecServerClient } from '../../src/low-level/exec-server-client.js';
import type { ProcessEvent } from '../../src/process-event.js';
import type { ProcessSession } from '../../src/process-session.js';
import { CuttingDialer } from '../support/cutting-dialer.js';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function serve(options: ExecServerOptions = {}): ExecServer {
  const server = createExecServer(options);
  cleanups.push(() => server.close());
  return server;
}

async function connect(dialer: Dialer): Promise<ExecServerClient> {
  const client = await ExecServerClient.connect(dialer, { reconnect: { minDelayMs: 1, maxDelayMs: 20 } });
  cleanups.push(() => client.close());
  return client;
}

const start = (processId: string, script: string, more: object = {}) => ({
  processId,
  argv: ['/bin/sh', '-c', script],
  cwd: 'file:///tmp',
  env: { PATH: process.env.PATH ?? '' },
  tty: false,
  pipeStdin: true,
  ...more,
});

/** Everything that came of a process, in order, without a number missing or doubled. */
class Record {
  text = '';
  gaps: [number, number][] = [];
  exitCode: number | undefined;
  readonly over: Promise<'closed' | 'failed'>;
  #next = 1;

  constructor(session: ProcessSession) {
    this.over = new Promise((resolve) => {
      const decoder = new TextDecoder();
      session.listen((event) => {
        this.#take(event, decoder);
        if (event.type === 'closed' || event.type === 'failed') resolve(event.type);
      });
    });
  }

  #take(event: ProcessEvent, decoder: TextDecoder): void {
    if (event.type === 'failed') return;
    if (event.type === 'gap') {
      expect(event.fromSeq).toBe(this.#next);
      this.gaps.push([event.fromSeq, event.toSeq]);
      this.#next = event.toSeq + 1;
      return;
    }
    expect(event.seq).toBe(this.#next++);
    if (event.type === 'output') this.text += decoder.decode(event.data, { stream: true });
    if (event.type === 'exited') this.exitCode = event.exitCode;
  }
}

/** Resolves once so much was told. */
function told(session: ProcessSession, isEnough: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    const stop = session.listen(() => {
      if (!isEnough()) return;
      stop();
      resolve();
    });
    if (isEnough()) resolve();
  });
}

const counted = (count: number) => Array.from({ length: count }, (_, index) => `${index + 1}\n`).join('');

describe('output', () => {
  test('is neither lost nor doubled when the connection is cut again and again', async () => {
    const dialer = new CuttingDialer(serve());
    const client = await connect(dialer);
    const session = client.registerProcess('p');
    const record = new Record(session);
    await client.exec(start('p', 'i=0; while read -r line; do echo "$line"; done; exit 4'));
    for (let round = 1; round <= 20; round++) {
      await session.write(new TextEncoder().encode(`${round}\n`));
      await told(session, () => record.text.endsWith(`${round}\n`));
      if (round % 3 === 0) dialer.cut();
    }
    await session.write(new Uint8Array(), { closeStdin: true });
    expect(await record.over).toBe('closed');
    expect([record.text, record.exitCode, record.gaps]).toEqual([counted(20), 4, []]);
    expect(dialer.dials).toBe(7);
  });

  /** Cuts a client off, has its process read a line and end, and lets the client come back. */
  async function endWhileCutOff(script: string, options: ExecServerOptions = {}) {
    const server = serve(options);
    const dialer = new CuttingDialer(server);
    const client = await connect(dialer);
    const session = client.registerProcess('p');
    const record = new Record(session);
    await client.exec(start('p', `echo first; read -r go; ${script}`));
    await told(session, () => record.text === 'first\n');
    const target = { processId: 'p', sessionId: client.sessionId as string };
    const observer = await connect(new CuttingDialer(server));
    const observed = new Record(observer.registerProcess('p', target));
    await observer.attach({ ...target, mode: 'control' });
    const lost = new Promise((resolve) => client.onLoss(resolve));
    dialer.shut();
    dialer.cut();
    await lost;
    await observer.write({ ...target, chunk: 'Z28K', writeId: 'go' });
    expect(await observed.over).toBe('closed');
    const log = await observer.read({ ...target, afterSeq: 1 });
    dialer.open();
    expect(await record.over).toBe('closed');
    return { record, log };
  }

  test('and the end that came while nobody was connected are told afterwards', async () => {
    const { record } = await endWhileCutOff('seq 1 500; exit 7');
    expect([record.text, record.exitCode, record.gaps]).toEqual([`first\n${counted(500)}`, 7, []]);
  });

  test('that the server could not keep is a gap of exactly the numbers that are missing', async () => {
    const script = 'i=0; while [ $i -lt 40 ]; do printf %01000d $i; i=$((i+1)); done; exit 7';
    const { record, log } = await endWhileCutOff(script, { retainedOutputBytes: 4_096 });
    const retained = log.chunks.map(({ chunk }) => atob(chunk)).join('');
    expect([record.text, record.exitCode]).toEqual([`first\n${retained}`, 7]);
    // Beside the first line, what is retained, the exit and the close.
    const missing = log.nextSeq - 1 - 1 - log.chunks.length - 2;
    expect(missing).toBeGreaterThan(0);
    expect(record.gaps.reduce((sum, [from, to]) => sum + to - from + 1, 0)).toBe(missing);
  });

  test('of a flood is followed again, with every gap told', async () => {
    const dialer = new CuttingDialer(serve());
    const client = await connect(dialer);
    const session = client.registerProcess('p');
    const record = new Record(session);
    await client.exec(start('p', 'yes'));
    for (let round = 1; round <= 5; round++) {
      const before = session.lastSeq;
      await told(session, () => session.lastSeq > before + 20);
      dialer.cut();
      await client.ready();
    }
    await client.terminate({ processId: 'p' }, { resend: true });
    expect(await record.over).toBe('closed');
    expect(record.exitCode).toBe(137);
  });
});

/** Cuts the connection at the first message that fits, before it gets there. */
function cutOnce(dialer: CuttingDialer, direction: 'sent' | 'received', part: string): () => number {
  let cuts = 0;
  dialer.cutWhen = (text, where) => {
    if (cuts > 0 || where !== direction || !text.includes(part)) return false;
    cuts++;
    return true;
  };
  return () => cuts;
}

describe('calls', () => {
  test.each([
    ['whose answer was lost is not made twice', 'received', '"sandboxType"'],
    ['that did not arrive is made', 'sent', '"process/start"'],
  ] as const)('a start %s', async (_name, direction, part) => {
    const dialer = new CuttingDialer(serve());
    const client = await connect(dialer);
    const record = new Record(client.registerProcess('p'));
    const cuts = cutOnce(dialer, direction, part);
    const { pid } = await client.exec(start('p', 'echo $$'));
    expect(await record.over).toBe('closed');
    expect([cuts(), record.text]).toEqual([1, `${pid}\n`]);
  });

  test.each([
    ['that did not arrive', 'sent', '"process/write"'],
    ['whose answer was lost', 'received', '"accepted"'],
  ] as const)('a write %s is written once', async (_name, direction, part) => {
    const dialer = new CuttingDialer(serve());
    const client = await connect(dialer);
    const session = client.registerProcess('p');
    const record = new Record(session);
    await client.exec(start('p', 'cat'));
    const cuts = cutOnce(dialer, direction, part);
    await session.write(new TextEncoder().encode('once\n'), { closeStdin: true });
    expect(await record.over).toBe('closed');
    expect([cuts(), record.text]).toEqual([1, 'once\n']);
  });

  test('a wait goes on over the loss', async () => {
    const dialer = new CuttingDialer(serve());
    const client = await connect(dialer);
    await client.exec(start('p', 'read -r go; exit 3'));
    const waiting = client.wait({ processId: 'p' });
    dialer.cut();
    await client.write({ processId: 'p', chunk: 'Z28K', writeId: '1' });
    expect(await waiting).toMatchObject({ running: false, exitCode: 3 });
  });

  test('a session that the server no longer has is the end of everything in it', async () => {
    const server = serve({ detachedSessionMs: 0 });
    const dialer = new CuttingDialer(server);
    const client = await connect(dialer);
    const record = new Record(client.registerProcess('p'));
    await client.exec(start('p', 'cat'));
    const observer = await connect(new CuttingDialer(server));
    const target = { processId: 'p', sessionId: client.sessionId as string };
    const observed = new Record(observer.registerProcess('p', target));
    await observer.attach(target);
    const lost = new Promise((resolve) => client.onLoss(resolve));
    dialer.shut();
    dialer.cut();
    await lost;
    // The session takes its processes along.
    expect(await observed.over).toBe('closed');
    dialer.open();
    await expect(client.environmentStatus()).rejects.toMatchObject({ code: 'session_expired' });
    expect(await record.over).toBe('failed');
    expect(record.exitCode).toBeUndefined();
    await expect(client.exec(start('q', 'true'))).rejects.toMatchObject({ code: 'session_expired' });
  });

  test('a process that ended and was forgotten meanwhile is said to be unknown, and the session goes on', async () => {
    const server = serve({ closedProcessRetentionMs: 1 });
    const dialer = new CuttingDialer(server);
    const client = await connect(dialer);
    const session = client.registerProcess('p');
    const record = new Record(session);
    const failures: ExecServerError[] = [];
    session.listen((event) => void (event.type === 'failed' && failures.push(event.error)));
    await client.exec(start('p', 'read -r go; exit 3'));
    const observer = await connect(new CuttingDialer(server));
    const target = { processId: 'p', sessionId: client.sessionId as string };
    await observer.attach({ ...target, mode: 'control' });
    dialer.shut();
    dialer.cut();
    await observer.write({ ...target, chunk: 'Z28K', writeId: '1' });
    await expect.poll(() => observer.list({ scope: 'all' })).toMatchObject({ processes: [] });
    dialer.open();
    expect(await record.over).toBe('failed');
    expect(failures).toMatchObject([{ code: 'process_expired' }]);
    expect(await client.exec(start('q', 'true'))).toMatchObject({ processId: 'q' });
  });

  test('so is one that was watched, had written nothing yet and is forgotten while the watcher is away', async () => {
    const server = serve({ closedProcessRetentionMs: 1 });
    const owner = await connect(new CuttingDialer(server));
    await owner.exec(start('p', 'read -r go'));
    const dialer = new CuttingDialer(server);
    const watcher = await connect(dialer);
    const target = { processId: 'p', sessionId: owner.sessionId as string };
    const record = new Record(watcher.registerProcess('p', { sessionId: target.sessionId }));
    await watcher.attach({ ...target, mode: 'view' });
    dialer.shut();
    dialer.cut();
    await owner.write({ processId: 'p', chunk: 'Z28K', writeId: '1' });
    await expect.poll(() => owner.list({})).toMatchObject({ processes: [] });
    dialer.open();
    expect(await record.over).toBe('failed');
  });

  test('errors of a real server have the names of this package', async () => {
    const client = await connect(new CuttingDialer(serve()));
    await expect(client.read({ processId: 'never' })).rejects.toMatchObject({ code: 'process_unknown' });
    await expect(client.exec({ ...start('p', ''), argv: ['/nonexistent/program'] })).rejects.toMatchObject({
      code: 'spawn_failed',
      rpcCode: -32603,
    });
    await expect(
      client.exec({ ...start('p', ''), argv: ['/bin/true', 'x'.repeat(3_000_000)] }),
    ).rejects.toMatchObject({ code: 'argument_too_long' });
    await expect(client.exec({ ...start('p', ''), argv: [] })).rejects.toMatchObject({
      code: 'rejected',
      rpcCode: -32602,
    });
  });

  test('a capability that the server does without is missing', async () => {
    const client = await connect(new CuttingDialer(serve({ disabledCapabilities: ['processWait'] })));
    expect(await client.supports('processWait')).toBe(false);
    await expect(client.wait({ processId: 'p' })).rejects.toMatchObject({ code: 'capability_missing' });
  });
});

describe('processes of other sessions', () => {
  test('are followed over a loss', async () => {
    const server = serve();
    const owner = await connect(new CuttingDialer(server));
    await owner.exec(start('p', 'while read -r line; do echo "$line"; done; exit 5'));
    const dialer = new CuttingDialer(server);
    const viewer = await connect(dialer);
    const sessionId = owner.sessionId as string;
    const session = viewer.registerProcess('p', { sessionId });
    const record = new Record(session);
    await viewer.attach({ processId: 'p', sessionId, mode: 'control' });
    for (let round = 1; round <= 6; round++) {
      await session.write(new TextEncoder().encode(`${round}\n`));
      await told(session, () => record.text.endsWith(`${round}\n`));
      if (round % 2 === 0) dialer.cut();
    }
    await session.write(new Uint8Array(), { closeStdin: true });
    expect(await record.over).toBe('closed');
    expect([record.text, record.exitCode]).toEqual([counted(6), 5]);
  });
});

test('over WebSockets that break', async () => {
  const server = serve();
  const listener = await server.listen('ws://127.0.0.1:0');
  let current: Transport | undefined;
  let dials = 0;
  const dialer: Dialer = {
    address: listener.url,
    redials: true,
    async dial() {
      dials++;
      current = await connectWebSocket(listener.url);
      return current;
    },
    async close() {},
  };
  const client = await connect(dialer);
  const session = client.registerProcess('p');
  const record = new Record(session);
  await client.exec(start('p', 'while read -r line; do echo "$line"; done; exit 6'));
  for (let round = 1; round <= 8; round++) {
    const write = session.write(new TextEncoder().encode(`${round}\n`));
    if (round % 4 === 0) current?.destroy('cut');
    await write;
  }
  await session.write(new Uint8Array(), { closeStdin: true });
  expect(await record.over).toBe('closed');
  expect([record.text, record.exitCode, dials]).toEqual([counted(8), 6, 3]);
});
