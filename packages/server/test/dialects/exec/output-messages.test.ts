import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MAX_FRAMED_ID_BYTES } from '@exec-server/protocol';
import type { Transport } from '@exec-server/rpc';
import { spareBuffers } from '@exec-server/rpc/node';
import { describe, expect, it, onTestFinished } from 'vitest';
import { chooseOutputMessages } from '../../../src/dialects/exec/output-messages.js';
import { outputBlocks } from '../../../src/native/block-pool.js';
import { RetainedChunk } from '../../../src/output/retained-chunk.js';
import {
  bytesOf,
  connectInMemory,
  connectInProcess,
  connectOverLines,
  connectOverWebSocket,
  formsOf,
  type OutputClient,
} from '../../support/output-client.js';
import { openServer, shellParams, startParams } from '../../support/session.js';

const MEBIBYTE = 1024 * 1024;
/** A chunk of 64 KiB, the header and an id of one letter. */
const LARGEST_FRAME = 64 * 1024 + 16 + 1;

const countingFrom1 = (events: readonly unknown[]) => Array.from(events, (_, index) => index + 1);

async function fileWith(content: Buffer): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'binary-output-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const path = join(directory, 'content');
  await writeFile(path, content);
  return path;
}

describe.each([
  ['memory', connectInMemory, 'binary'],
  ['a WebSocket', connectOverWebSocket, 'binary'],
  ['memory to a client that takes objects', connectInProcess, 'object'],
] as const)('binary output over %s', (_name, connect, granted) => {
  it('has the same bytes as JSON, and one count with the notifications', async () => {
    const content = randomBytes(3_000_001);
    const path = await fileWith(content);
    const server = openServer();
    for (const form of ['json', granted]) {
      const { client } = await connect(server);
      await client.initialize({ binaryOutput: form === granted });
      await client.request('process/start', shellParams('p', `cat ${path}; cat ${path} >&2`));
      const events = await client.untilClosed('p');
      expect(formsOf(events)).toEqual([form]);
      expect(bytesOf(events, 'stdout').equals(content)).toBe(true);
      expect(bytesOf(events, 'stderr').equals(content)).toBe(true);
      expect(events.map(({ seq }) => seq)).toEqual(countingFrom1(events));
      expect(events.filter(({ kind }) => kind !== 'process/output').map(({ kind }) => kind)).toEqual([
        'process/exited',
        'process/closed',
      ]);
      expect(events.at(-1)?.kind).toBe('process/closed');
      expect(events.every(({ sessionId }) => sessionId === undefined)).toBe(true);
    }
  });

  it('names the stream of a terminal', async () => {
    const { client } = await connect(openServer());
    await client.initialize({ binaryOutput: true });
    await client.request('process/start', shellParams('p', 'echo out; echo err >&2', { tty: true }));
    const events = await client.untilClosed('p');
    expect(formsOf(events)).toEqual([granted]);
    expect(bytesOf(events, 'pty').toString()).toBe('out\r\nerr\r\n');
  });

  it('50 MiB through a client that pauses: every byte, in order, and the queue keeps its bound', async () => {
    const { client, serverSide } = await connect(openServer());
    await client.initialize({ binaryOutput: true });
    const total = 50 * MEBIBYTE;
    const reader = readPausingAt([5 * MEBIBYTE, 20 * MEBIBYTE], client, serverSide);
    await client.request(
      'process/start',
      startParams('p', ['/usr/bin/head', '-c', String(total), '/dev/zero']),
    );
    const events = await client.untilClosed('p');
    expect(formsOf(events)).toEqual([granted]);
    expect(bytesOf(events, 'stdout').length).toBe(total);
    expect(events.map(({ seq }) => seq)).toEqual(countingFrom1(events));
    expect(reader.pauses).toBe(2);
    expect(reader.mostQueued()).toBeGreaterThanOrEqual(MEBIBYTE);
    expect(reader.mostQueued()).toBeLessThan(MEBIBYTE + LARGEST_FRAME);
  });

  it('requests may still come as binary messages', async () => {
    const { client } = await connect(openServer());
    await client.initialize({ binaryOutput: true });
    const start = { id: 'b', method: 'process/start', params: shellParams('p', 'echo hello') };
    client.transport.sendBinary?.(Buffer.from(JSON.stringify(start)));
    expect(bytesOf(await client.untilClosed('p'), 'stdout').toString()).toBe('hello\n');
  });
});

/** Stops reading at each mark until the server's queue is full. */
function readPausingAt(marks: readonly number[], client: OutputClient, serverSide: Transport) {
  const reader = { pauses: 0, mostQueued: () => mostQueued };
  let mostQueued = 0;
  let received = 0;
  const resumeWhenFull = () => {
    mostQueued = Math.max(mostQueued, serverSide.bufferedBytes);
    if (serverSide.bufferedBytes < MEBIBYTE) setImmediate(resumeWhenFull);
    else client.transport.resume();
  };
  client.onEvent = ({ data }) => {
    mostQueued = Math.max(mostQueued, serverSide.bufferedBytes);
    received += data?.length ?? 0;
    const mark = marks[reader.pauses];
    if (mark === undefined || received < mark) return;
    reader.pauses++;
    client.transport.pause();
    resumeWhenFull();
  };
  return reader;
}

describe('memory that is used again', () => {
  const content = randomBytes(24 * MEBIBYTE);
  const isPieceOfContent = (data: Buffer) => {
    const at = content.indexOf(data.subarray(0, 32));
    return content.subarray(at, at + data.length).equals(data);
  };
  const outputOf = ({ events }: OutputClient) =>
    events.filter(({ kind }) => kind === 'process/output').map(({ seq, data }) => ({ seq, data: data! }));

  async function startOwner(binaryOutput = true) {
    // The log lets go of a chunk long before a slow reader has it.
    const server = openServer({ retainedOutputBytes: MEBIBYTE });
    const path = await fileWith(content);
    const owner = await connectOverWebSocket(server);
    const { result } = await owner.client.initialize({ binaryOutput });
    await owner.client.request(
      'process/start',
      shellParams('p', `read line; exec cat ${path}`, { pipeStdin: true }),
    );
    const go = () =>
      owner.client.request('process/write', { processId: 'p', chunk: Buffer.from('\n').toString('base64') });
    return { server, owner, sessionId: result?.sessionId as string, go };
  }

  it('is that of chunks that the log has let go and a slow owner has got', async () => {
    const { owner, go } = await startOwner();
    // What is left must be more than the sockets of a system hold.
    readPausingAt([2 * MEBIBYTE, 4 * MEBIBYTE, 8 * MEBIBYTE], owner.client, owner.serverSide);
    await go();
    const events = await owner.client.untilClosed('p');
    expect(bytesOf(events, 'stdout').equals(content)).toBe(true);
    expect(outputBlocks.spareBlocks).toBeGreaterThan(0);
  });

  it('is that of notifications that a slow owner has got', async () => {
    const { owner, go } = await startOwner(false);
    readPausingAt([2 * MEBIBYTE, 6 * MEBIBYTE, 18 * MEBIBYTE], owner.client, owner.serverSide);
    await go();
    const events = await owner.client.untilClosed('p');
    expect(formsOf(events)).toEqual(['json']);
    expect(bytesOf(events, 'stdout').equals(content)).toBe(true);
  });

  it('is that of a notification once it has left, not before', () => {
    const sent: { readonly line: Uint8Array; readonly onFree: (() => void) | undefined }[] = [];
    const messages = chooseOutputMessages(
      {
        binaryOutput: false,
        carriesObjects: false,
        sendBytes: (line, onFree) => void sent.push({ line, onFree }),
        sendBinary: () => {},
        sendObject: () => {},
      },
      'p',
    );
    for (const seq of [1, 2]) messages.sendOnce(new RetainedChunk(seq, 'stdout', randomBytes(64 * 1024)));
    const [first, second] = sent;
    const { buffer, length } = first!.line;
    expect(second!.line.buffer === buffer).toBe(false);
    const isSpare = () =>
      Array.from({ length: 64 }, () => spareBuffers.take(length).buffer).some((other) => other === buffer);
    expect(isSpare()).toBe(false);
    first!.onFree?.();
    expect(isSpare()).toBe(true);
  });

  it('shows nobody the bytes of another chunk: viewers and readers that keep what they get', async () => {
    const { server, owner, sessionId, go } = await startOwner();
    const viewers = await Promise.all(
      [connectOverWebSocket, connectInProcess].map((connect) => connect(server)),
    );
    for (const { client } of viewers) {
      await client.initialize({ binaryOutput: true });
      await client.request('process/attach', { processId: 'p', sessionId });
    }
    const slow = viewers[0]!.client.transport;
    slow.pause();
    const reader = (await connectInMemory(server)).client;
    await reader.initialize();
    const started = go();
    const read = await readUntilClosed(reader, sessionId);
    await started;
    expect(bytesOf(await owner.client.untilClosed('p'), 'stdout').equals(content)).toBe(true);
    slow.resume();
    const bySeq = new Map(outputOf(owner.client).map(({ seq, data }) => [seq, data]));
    for (const { client } of viewers) {
      await client.untilClosed('p');
      for (const { seq, data } of outputOf(client)) expect(bySeq.get(seq)?.equals(data)).toBe(true);
    }
    expect(read.length).toBeGreaterThan(0);
    for (const { seq, chunk } of read) expect(bySeq.get(seq)?.toString('base64')).toBe(chunk);
  });

  it('does not reach who takes over from a connection that was cut off with a full queue', async () => {
    const { server, owner, sessionId, go } = await startOwner();
    await go();
    await owner.client.until(({ seq }) => seq === 20);
    owner.client.transport.pause();
    while (owner.serverSide.bufferedBytes < MEBIBYTE) await new Promise(setImmediate);
    owner.serverSide.destroy('cut');
    const { client: second } = await connectOverWebSocket(server);
    await second.initialize({ resumeSessionId: sessionId, binaryOutput: true });
    const read = await readUntilClosed(second);
    const before = bytesOf(owner.client.events, 'stdout');
    expect(content.subarray(0, before.length).equals(before)).toBe(true);
    const pieces = [
      ...read.map(({ chunk }) => Buffer.from(chunk, 'base64')),
      ...outputOf(second).map(({ data }) => data),
    ];
    expect(pieces.length).toBeGreaterThan(0);
    expect(pieces.every(isPieceOfContent)).toBe(true);
  });
});

/** Reads a process as fast as it can, of another session if one is named, and returns everything that it was told. */
async function readUntilClosed(client: OutputClient, sessionId?: string) {
  const chunks: { seq: number; chunk: string }[] = [];
  let afterSeq = 0;
  for (;;) {
    const params = { processId: 'p', sessionId, afterSeq, maxBytes: 200_000, waitMs: 1_000 };
    const { result } = await client.request('process/read', params);
    const answer = result as unknown as { chunks: typeof chunks; nextSeq: number; closed: boolean };
    chunks.push(...answer.chunks);
    if (answer.closed && answer.chunks.length === 0) return chunks;
    afterSeq = answer.nextSeq - 1;
  }
}

describe('the choice', () => {
  it.each([
    [{}, undefined, ['json']],
    [{ binaryOutput: false }, false, ['json']],
    [{ binaryOutput: true }, true, ['binary']],
  ])('initialize with %j', async (params, told, forms) => {
    const { client } = await connectInMemory(openServer());
    const { result } = await client.initialize(params);
    expect(result?.binaryOutput).toBe(told);
    expect(Object.hasOwn(result ?? {}, 'binaryOutput')).toBe(told !== undefined);
    await client.request('process/start', shellParams('p', 'echo hello'));
    expect(formsOf(await client.untilClosed('p'))).toEqual(forms);
  });

  it('is objects only for who has asked for bytes', async () => {
    const { client } = await connectInProcess(openServer());
    await client.initialize();
    await client.request('process/start', shellParams('p', 'echo hello'));
    expect(formsOf(await client.untilClosed('p'))).toEqual(['json']);
  });

  it('is advertised', async () => {
    const { client } = await connectInMemory(openServer());
    const { result } = await client.initialize();
    expect(result).toMatchObject({ environmentInfo: { capabilities: { binaryOutput: true } } });
  });

  it('is no over a transport that cannot carry it', async () => {
    const { client } = await connectOverLines(openServer());
    const { result } = await client.initialize({ binaryOutput: true });
    expect(result?.binaryOutput).toBe(false);
    await client.request('process/start', shellParams('p', 'echo hello'));
    const events = await client.untilClosed('p');
    expect(formsOf(events)).toEqual(['json']);
    expect(bytesOf(events, 'stdout').toString()).toBe('hello\n');
  });

  it.each([
    [true, undefined, ['json']],
    [undefined, true, ['binary']],
  ])('is not that of an initialize that failed: %s, then %s', async (failed, accepted, forms) => {
    const { client } = await connectInMemory(openServer());
    const refused = await client.initialize({ resumeSessionId: 'nobody', binaryOutput: failed });
    expect(refused.error?.code).toBe(-32600);
    const { result } = await client.initialize({ binaryOutput: accepted });
    expect(result?.binaryOutput).toBe(accepted);
    await client.request('process/start', shellParams('p', 'echo hello'));
    expect(formsOf(await client.untilClosed('p'))).toEqual(forms);
  });

  it.each([
    [MAX_FRAMED_ID_BYTES - 1, 'binary'],
    [MAX_FRAMED_ID_BYTES, 'binary'],
    [MAX_FRAMED_ID_BYTES + 1, 'json'],
  ])('for a process whose id has %i bytes: %s', async (length, form) => {
    const { client } = await connectInMemory(openServer());
    await client.initialize({ binaryOutput: true });
    const id = 'x'.repeat(length);
    await client.request('process/start', shellParams(id, 'echo hello'));
    const events = await client.untilClosed(id);
    expect(formsOf(events)).toEqual([form]);
    expect(bytesOf(events, 'stdout').toString()).toBe('hello\n');
  });

  it.each([
    ['json', 'binary'],
    ['binary', 'json'],
  ])('is made anew at resume: %s, then %s', async (before, after) => {
    const server = openServer();
    const first = (await connectInMemory(server)).client;
    const { result } = await first.initialize({ binaryOutput: before === 'binary' });
    await first.request('process/start', shellParams('p', 'cat', { pipeStdin: true }));
    const write = (client: OutputClient, text: string) =>
      client.request('process/write', { processId: 'p', chunk: Buffer.from(text).toString('base64') });
    await write(first, 'one');
    const one = await first.until(({ data }) => data?.toString() === 'one');
    const { client: second } = await connectInMemory(server);
    const detached = new Promise<void>((resolve) => {
      first.onClose = () => resolve();
    });
    first.transport.close();
    await detached;
    await second.initialize({ resumeSessionId: result?.sessionId, binaryOutput: after === 'binary' });
    await write(second, 'two');
    const two = await second.until(({ data }) => data?.toString() === 'two');
    expect([one, two]).toMatchObject([
      { form: before, seq: 1 },
      { form: after, seq: 2 },
    ]);
  });

  it("is each viewer's own", async () => {
    const content = randomBytes(500_000);
    const path = await fileWith(content);
    const server = openServer();
    const owner = (await connectInMemory(server)).client;
    const { result } = await owner.initialize();
    const sessionId = result?.sessionId;
    await owner.request('process/start', shellParams('p', `read line; cat ${path}`, { pipeStdin: true }));
    const viewers = new Map<OutputClient, string>();
    for (const form of ['binary', 'json', 'object', 'binary', 'object']) {
      const { client } = await (form === 'object' ? connectInProcess : connectInMemory)(server);
      await client.initialize({ binaryOutput: form !== 'json' });
      await client.request('process/attach', { processId: 'p', sessionId });
      viewers.set(client, form);
    }
    await owner.request('process/write', { processId: 'p', chunk: Buffer.from('go\n').toString('base64') });
    const told = await owner.untilClosed('p');
    expect(formsOf(told)).toEqual(['json']);
    for (const [viewer, form] of viewers) {
      const events = await viewer.untilClosed('p');
      expect(formsOf(events)).toEqual([form]);
      expect(bytesOf(events, 'stdout').equals(content)).toBe(true);
      expect(events.map(({ seq }) => seq)).toEqual(told.map(({ seq }) => seq));
      expect(events.every((event) => event.sessionId === sessionId)).toBe(true);
    }
  });
});
