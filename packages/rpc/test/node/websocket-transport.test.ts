import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createWebSocketTransport, type WebSocketTransportOptions } from '../../src/node/index.js';
import { recordTransport } from '../support/record-transport.js';
import { connectPair, type WebSocketPair } from '../support/websocket-pair.js';

const MAX_PAYLOAD = 1000;
let pair: WebSocketPair;
beforeEach(async () => {
  pair = await connectPair({ maxPayload: MAX_PAYLOAD });
});
afterEach(() => pair.close());

const openTransport = (options: Partial<WebSocketTransportOptions> = {}) =>
  createWebSocketTransport(pair.near, { label: 'test', stream: pair.nearStream, ...options });

/** Text and kind of the next `count` messages that the client gets. */
async function received(count: number): Promise<{ text: string; isBinary: boolean }[]> {
  const messages: { text: string; isBinary: boolean }[] = [];
  return new Promise((resolve) => {
    pair.far.on('message', (data: Buffer, isBinary) => {
      messages.push({ text: data.toString('utf8'), isBinary });
      if (messages.length === count) resolve(messages);
    });
  });
}

describe('messages', () => {
  test('takes text and binary frames alike', async () => {
    const record = recordTransport(openTransport());
    pair.far.send('"é"');
    pair.far.send(Buffer.from('"ü"'));
    pair.far.send('');
    expect(await record.until(3)).toEqual(['"é"', '"ü"', '']);
  });

  test('a binary frame that is not UTF-8 is malformed and costs nothing else', async () => {
    const record = recordTransport(openTransport());
    pair.far.send(Buffer.from([0x7b, 0xff]));
    pair.far.send('next');
    expect(await record.until(1)).toEqual(['next']);
    expect(record.malformed).toEqual(['invalid unicode code point']);
  });

  test('sends text frames only, without the newline of a line', async () => {
    const transport = openTransport();
    recordTransport(transport);
    const messages = received(2);
    transport.send('"é"');
    transport.sendBytes(Buffer.from('[1]\n'));
    expect(await messages).toEqual([
      { text: '"é"', isBinary: false },
      { text: '[1]', isBinary: false },
    ]);
  });

  test.each([2, 100])(
    'memory of a line is free once it has left, in frames of %i bytes',
    async (maxFrameBytes) => {
      const transport = openTransport({ maxFrameBytes, role: 'server' });
      recordTransport(transport);
      const messages = received(1);
      const line = Buffer.from('[1,2,3]\n');
      await new Promise<void>((resolve) => transport.sendBytes(line, resolve));
      line.fill('x');
      expect(await messages).toEqual([{ text: '[1,2,3]', isBinary: false }]);
    },
  );

  test('carries binary messages both ways, in order with the others', async () => {
    const transport = openTransport();
    const arrived: unknown[] = [];
    const record = recordTransport(transport, {
      onMessage: (text) => arrived.push(text),
      onBinary: (bytes) => arrived.push(Uint8Array.from(bytes)),
    });
    pair.far.send('1');
    pair.far.send(Buffer.from([0xff]));
    pair.far.send(Buffer.alloc(0));
    pair.far.send('2');
    await record.until(2);
    expect(arrived).toEqual(['1', Uint8Array.of(0xff), Uint8Array.of(), '2']);
    expect(record.malformed).toEqual([]);
    const messages = received(3);
    transport.send('3');
    transport.sendBinary?.(Buffer.from('4'));
    transport.sendBytes(Buffer.from('5\n'));
    expect(transport.bufferedBytes).toBe(3);
    expect(await messages).toEqual([
      { text: '3', isBinary: false },
      { text: '4', isBinary: true },
      { text: '5', isBinary: false },
    ]);
  });

  test('nothing is read before it is opened, and nothing is lost', async () => {
    const transport = openTransport();
    pair.far.send('early');
    await new Promise<void>((resolve) => pair.far.ping('', true, () => resolve()));
    await new Promise(setImmediate);
    expect(await recordTransport(transport).until(1)).toEqual(['early']);
  });

  test('a paused transport stops reading until it is resumed', async () => {
    const transport = openTransport();
    const record = recordTransport(transport);
    transport.pause();
    const count = 40_000;
    const text = 'x'.repeat(MAX_PAYLOAD);
    for (let sent = 0; sent < count; sent++) pair.far.send(text);
    while (pair.farStream.bytesWritten === 0) await new Promise(setImmediate);
    await new Promise(setImmediate);
    expect(pair.far.bufferedAmount).toBeGreaterThan(0);
    expect(record.messages).toEqual([]);
    transport.resume();
    await record.until(count);
  });

  test('counts bytes until the socket has taken them', async () => {
    const transport = openTransport();
    const record = recordTransport(transport);
    pair.far.pause();
    const megabyte = Buffer.alloc(1024 * 1024, '1');
    megabyte[megabyte.length - 1] = 0x0a;
    for (let sent = 0; sent < 16; sent++) transport.sendBytes(megabyte);
    transport.send('é');
    expect(transport.bufferedBytes).toBe(16 * (megabyte.length - 1) + 2);
    pair.far.resume();
    await record.when(() => transport.bufferedBytes === 0);
    expect(record.drains()).toBe(17);
  });

  test.each([
    [15, [15]],
    [16, [16]],
    [17, [16, 1]],
    [32, [16, 16]],
    [33, [16, 16, 1]],
  ])('%i bytes with frames of at most 16 go out as %j', async (length, frames) => {
    const transport = openTransport({ maxFrameBytes: 16 });
    recordTransport(transport);
    const raw: Buffer[] = [];
    pair.farStream.on('data', (data: Buffer) => raw.push(data));
    const messages = received(3);
    transport.send('t'.repeat(length));
    transport.sendBytes(Buffer.from(`${'b'.repeat(length)}\n`));
    transport.sendBinary?.(Buffer.from('f'.repeat(length)));
    expect(await messages).toEqual([
      { text: 't'.repeat(length), isBinary: false },
      { text: 'b'.repeat(length), isBinary: false },
      { text: 'f'.repeat(length), isBinary: true },
    ]);
    expect(payloadLengths(Buffer.concat(raw))).toEqual([...frames, ...frames, ...frames]);
  });
});

describe('binary messages in two parts', () => {
  const START = Buffer.from('start:');

  beforeEach(async () => {
    await pair.close();
    pair = await connectPair();
  });

  test.each([0, 1, 119, 120, 65_529, 65_530, 3_000_000])(
    'a rest of %i bytes arrives behind its start, in order with all others, from either side',
    async (length) => {
      const rest = Buffer.alloc(length, 'r');
      for (const role of ['server', 'client'] as const) {
        const [socket, stream, other] =
          role === 'server' ? [pair.near, pair.nearStream, pair.far] : [pair.far, pair.farStream, pair.near];
        const transport = createWebSocketTransport(socket, { label: 'test', stream, role });
        recordTransport(transport);
        const arrived: Buffer[] = [];
        const all = new Promise<void>((resolve) => {
          other.on('message', (data: Buffer) => arrived.push(data) === 3 && resolve());
        });
        transport.send('before');
        transport.sendBinary?.(START, rest);
        transport.sendBytes(Buffer.from('after\n'));
        expect(transport.bufferedBytes).toBe('before'.length + START.length + length + 'after'.length);
        await all;
        expect(arrived.map(String)).toEqual(['before', 'start:'.padEnd(START.length + length, 'r'), 'after']);
        expect(rest.equals(Buffer.alloc(length, 'r'))).toBe(true);
      }
    },
  );

  test.each([
    [15, [15]],
    [16, [16]],
    [17, [16, 1]],
  ])('%i bytes in frames of at most 16 go out as %j', async (length, frames) => {
    const transport = openTransport({ role: 'server', maxFrameBytes: 16 });
    recordTransport(transport);
    const raw: Buffer[] = [];
    pair.farStream.on('data', (data: Buffer) => raw.push(data));
    const messages = received(1);
    transport.sendBinary?.(START, Buffer.alloc(length - START.length, 'r'));
    expect(await messages).toEqual([{ text: 'start:'.padEnd(length, 'r'), isBinary: true }]);
    expect(payloadLengths(Buffer.concat(raw))).toEqual(frames);
  });

  test('both parts leave with what else is sent in the same turn, in one write', async () => {
    const transport = openTransport({ role: 'server' });
    recordTransport(transport);
    const writes: number[] = [];
    const messages = received(2);
    pair.farStream.on('data', (data: Buffer) => writes.push(data.length));
    transport.sendBinary?.(START, Buffer.from('one'));
    transport.sendBinary?.(START, Buffer.from('two'));
    await messages;
    expect(writes).toEqual([2 * (2 + START.length + 3)]);
  });

  test.each(['server', 'client'] as const)('a %s tells when each rest has been taken, once', async (role) => {
    const transport = openTransport({ role });
    const record = recordTransport(transport);
    const freed: number[] = [];
    pair.far.pause();
    for (let sent = 0; sent < 32; sent++)
      transport.sendBinary?.(START, Buffer.alloc(1024 * 1024), () => freed.push(sent));
    if (role === 'server') expect(freed).toEqual([]);
    pair.far.resume();
    await record.when(() => transport.bufferedBytes === 0);
    expect(freed).toEqual(Array.from({ length: 32 }, (_, index) => index));
  });

  test('a rest that never leaves is not told to be free', async () => {
    const transport = openTransport({ role: 'server' });
    const record = recordTransport(transport);
    let freed = 0;
    pair.far.pause();
    for (let sent = 0; sent < 32; sent++)
      transport.sendBinary?.(START, Buffer.alloc(1024 * 1024), () => freed++);
    transport.destroy('over');
    await record.closed;
    transport.sendBinary?.(START, Buffer.alloc(1), () => freed++);
    expect(freed).toBe(0);
  });

  test('those that wait when the other side closes are dropped, and the end is told', async () => {
    const transport = openTransport({ role: 'server' });
    const record = recordTransport(transport);
    const rest = Buffer.alloc(1024 * 1024);
    pair.far.pause();
    for (let sent = 0; sent < 32; sent++) transport.sendBinary?.(START, rest);
    const sizes: number[] = [];
    pair.far.on('message', (data: Buffer) => sizes.push(data.length));
    const problems: Error[] = [];
    pair.far.on('error', (error) => problems.push(error));
    pair.far.close(1000);
    pair.far.resume();
    expect(await record.closed).toBeUndefined();
    expect(problems).toEqual([]);
    expect(sizes.length).toBeLessThan(32);
    expect(sizes.every((size) => size === START.length + rest.length)).toBe(true);
    expect(transport.bufferedBytes).toBe(0);
  });
});

/** Lengths of unmasked frames that are each shorter than 126 bytes. */
function payloadLengths(raw: Buffer): number[] {
  const lengths: number[] = [];
  for (let at = 0; at < raw.length; at += 2 + (raw[at + 1] ?? 0)) lengths.push(raw[at + 1] ?? 0);
  return lengths;
}

describe('the end from the other side', () => {
  test.each([
    [1000, undefined],
    [1001, undefined],
    [undefined, undefined],
    [1008, 'closed with code 1008: why'],
    [4000, 'closed with code 4000: why'],
  ])('close frame %s: reason is %s', async (code, reason) => {
    const record = recordTransport(openTransport());
    if (code === undefined) pair.far.close();
    else pair.far.close(code, 'why');
    expect(await record.closed).toBe(reason);
  });

  test('a connection that just ends is clean', async () => {
    const record = recordTransport(openTransport());
    pair.farStream.end();
    expect(await record.closed).toBeUndefined();
  });

  test('a reset connection is not', async () => {
    const record = recordTransport(openTransport());
    pair.farStream.resetAndDestroy();
    expect(await record.closed).toMatch(/ECONNRESET/);
  });

  test.each([MAX_PAYLOAD - 1, MAX_PAYLOAD])('a message of %i bytes is within the limit', async (length) => {
    const record = recordTransport(openTransport());
    pair.far.send('x'.repeat(length));
    expect((await record.until(1))[0]).toHaveLength(length);
  });

  test('a longer one ends the connection with 1009 and a reason', async () => {
    const record = recordTransport(openTransport());
    pair.far.send('x'.repeat(MAX_PAYLOAD + 1));
    expect((await once(pair.far, 'close'))[0]).toBe(1009);
    expect(await record.closed).toBe('Max payload size exceeded');
    expect(record.messages).toEqual([]);
  });

  test('a text frame that is not UTF-8 ends it with 1007', async () => {
    const record = recordTransport(openTransport());
    pair.far.send(Buffer.from([0xff]), { binary: false });
    expect((await once(pair.far, 'close'))[0]).toBe(1007);
    expect(await record.closed).toContain('invalid UTF-8 sequence');
  });

  test('one that breaks the protocol and stays is dropped after the timeout', async () => {
    const record = recordTransport(openTransport({ closeTimeoutMs: 10 }));
    // A TCP peer that reads nothing and never closes.
    pair.farStream.pause();
    pair.far.send('x'.repeat(MAX_PAYLOAD + 1));
    expect(await record.closed).toBe('Max payload size exceeded');
  });
});

describe('the end from this side', () => {
  test('close sends code and reason, after what is queued', async () => {
    const transport = openTransport();
    const record = recordTransport(transport);
    const messages = received(1);
    transport.send('last');
    transport.close({ code: 1008, reason: `${'é'.repeat(80)}` });
    transport.send('too late');
    const [code, reason] = (await once(pair.far, 'close')) as [number, Buffer];
    expect([code, reason.toString('utf8')]).toEqual([1008, 'é'.repeat(61)]);
    expect((await messages).map(({ text }) => text)).toEqual(['last']);
    expect(await record.closed).toBeUndefined();
    expect(transport.bufferedBytes).toBe(0);
  });

  test('close without options is a normal closure', async () => {
    const transport = openTransport();
    recordTransport(transport);
    transport.close();
    expect((await once(pair.far, 'close'))[0]).toBe(1000);
  });

  test('close delivers nothing any more, and a paused transport closes too', async () => {
    const transport = openTransport();
    const record = recordTransport(transport);
    transport.pause();
    pair.far.send('unread');
    await new Promise<void>((resolve) => pair.far.ping('', true, () => resolve()));
    transport.close();
    transport.pause();
    expect(await record.closed).toBeUndefined();
    expect(record.messages).toEqual([]);
  });

  test('a peer that does not answer the close frame is terminated', async () => {
    const transport = openTransport({ closeTimeoutMs: 10 });
    const record = recordTransport(transport);
    pair.far.pause();
    transport.close();
    expect(await record.closed).toBe('close frame was not answered in time');
  });

  test('destroy ends at once with its reason and no close frame', async () => {
    const transport = openTransport();
    const record = recordTransport(transport);
    transport.destroy('kicked out');
    transport.destroy('again');
    expect(await record.closed).toBe('kicked out');
    expect((await once(pair.far, 'close'))[0]).toBe(1006);
  });
});

test.each(['with', 'without'])('a ping is answered, and its answer is activity (%s stream)', async (how) => {
  const transport = createWebSocketTransport(pair.near, {
    label: 'test',
    ...(how === 'with' && { stream: pair.nearStream }),
  });
  recordTransport(transport);
  const before = transport.measureActivity?.(1_000);
  expect(transport.measureActivity?.(1_000)).toBe(before);
  const answered = once(pair.near, 'pong');
  transport.ping?.();
  await answered;
  expect(transport.measureActivity?.(1_000)).not.toBe(before);
  transport.destroy('over');
  transport.ping?.();
});

test('a socket that is not open is refused', async () => {
  pair.near.terminate();
  expect(() => openTransport()).toThrow('not open');
});
