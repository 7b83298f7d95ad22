import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createBrowserWebSocketTransport } from '../src/index.js';
import { recordTransport } from './support/record-transport.js';
import { connectPair, type WebSocketPair } from './support/websocket-pair.js';

let pair: WebSocketPair;
beforeEach(async () => {
  pair = await connectPair();
});
afterEach(() => pair.close());

/** The client class of `ws` has the interface of the browsers'. */
const openTransport = () =>
  createBrowserWebSocketTransport(pair.far as unknown as WebSocket, { label: 'exec-server websocket test' });

describe('messages', () => {
  test('takes text and binary frames alike; bad UTF-8 is malformed', async () => {
    const record = recordTransport(openTransport());
    pair.near.send('"é"');
    pair.near.send(Buffer.from([0xff]));
    pair.near.send(Buffer.from('"ü"'));
    expect(await record.until(2)).toEqual(['"é"', '"ü"']);
    expect(record.malformed).toEqual(['invalid unicode code point']);
  });

  test('sends text frames only, without the newline of a line', async () => {
    const transport = openTransport();
    recordTransport(transport);
    const frames: [string, boolean][] = [];
    pair.near.on('message', (data: Buffer, isBinary) => frames.push([data.toString('utf8'), isBinary]));
    transport.send('"é"');
    transport.sendBytes(new TextEncoder().encode('[1]\n'));
    transport.close();
    await once(pair.near, 'close');
    expect(frames).toEqual([
      ['"é"', false],
      ['[1]', false],
    ]);
  });

  test('carries binary messages both ways, in order with the others', async () => {
    const transport = openTransport();
    const arrived: unknown[] = [];
    const record = recordTransport(transport, {
      onMessage: (text) => arrived.push(text),
      onBinary: (bytes) => arrived.push(bytes),
    });
    pair.near.send('1');
    pair.near.send(Buffer.from([0xff]));
    pair.near.send('2');
    await record.until(2);
    expect(arrived).toEqual(['1', Uint8Array.of(0xff), '2']);
    const frames: [Buffer, boolean][] = [];
    pair.near.on('message', (data: Buffer, isBinary) => frames.push([data, isBinary]));
    transport.send('3');
    transport.sendBinary?.(Uint8Array.of(0xfe));
    const rest = Uint8Array.of(0xfb);
    transport.sendBinary?.(Uint8Array.of(0xfc), rest, () => rest.fill(0));
    transport.close();
    transport.sendBinary?.(Uint8Array.of(0xfd));
    await once(pair.near, 'close');
    expect(frames).toEqual([
      [Buffer.from('3'), false],
      [Buffer.from([0xfe]), true],
      [Buffer.from([0xfc, 0xfb]), true],
    ]);
  });

  test('holds binary messages like text, and what it holds is counted in bytes', async () => {
    const transport = openTransport();
    const frames: Uint8Array[] = [];
    const record = recordTransport(transport, { onBinary: (frame) => frames.push(frame) });
    transport.pause();
    const half = Buffer.alloc(32 * 1024 * 1024, 0xff);
    for (let sent = 0; sent < 2; sent++) {
      const arrived = once(pair.far, 'message');
      pair.near.send(half);
      await arrived;
    }
    transport.resume();
    await record.when(() => frames.length === 2);
    transport.pause();
    for (let sent = 0; sent < 2; sent++) pair.near.send(half);
    pair.near.send(Buffer.from([0xff]));
    expect(await record.closed).toBe('more than 64 MiB arrived while paused');
  });

  test('holds what arrives before it is opened or while it is paused, in order', async () => {
    const transport = openTransport();
    const arrived = once(pair.far, 'message');
    pair.near.send('1');
    await arrived;
    const record = recordTransport(transport);
    await record.until(1);
    transport.pause();
    const next = once(pair.far, 'message');
    pair.near.send('2');
    await next;
    expect(record.messages).toEqual(['1']);
    transport.resume();
    pair.near.send('3');
    expect(await record.until(3)).toEqual(['1', '2', '3']);
  });

  test('holds 64 MiB while paused and ends beyond', async () => {
    const transport = openTransport();
    const record = recordTransport(transport);
    transport.pause();
    const text = 'x'.repeat(32 * 1024 * 1024);
    for (let sent = 0; sent < 2; sent++) {
      const arrived = once(pair.far, 'message');
      pair.near.send(text);
      await arrived;
    }
    expect(pair.far.readyState).toBe(pair.far.OPEN);
    pair.near.send('x');
    expect(await record.closed).toBe('more than 64 MiB arrived while paused');
  });

  test('looks at the queue until it is empty', async () => {
    const transport = openTransport();
    const record = recordTransport(transport);
    pair.near.pause();
    transport.send('x'.repeat(16 * 1024 * 1024));
    expect(transport.bufferedBytes).toBeGreaterThan(0);
    await record.when(() => record.drains() >= 2);
    pair.near.resume();
    await record.when(() => transport.bufferedBytes === 0);
  });
});

test('a message is activity, as is a queue that changes', async () => {
  const transport = openTransport();
  const record = recordTransport(transport);
  const silent = transport.measureActivity?.(1_000);
  expect(transport.measureActivity?.(1_000)).toBe(silent);
  pair.near.send('1');
  await record.until(1);
  const heard = transport.measureActivity?.(1_000);
  expect(heard).not.toBe(silent);
  pair.near.pause();
  transport.send('x'.repeat(32 * 1024 * 1024));
  const queued = transport.measureActivity?.(1_000);
  expect(queued).not.toBe(heard);
  transport.send('x');
  expect(transport.measureActivity?.(1_000)).not.toBe(queued);
});

describe('the end', () => {
  test.each([
    [1000, undefined],
    [1001, undefined],
    [1008, 'closed with code 1008: why'],
  ])('close frame %i from the other side: reason is %s', async (code, reason) => {
    const record = recordTransport(openTransport());
    pair.near.close(code, 'why');
    expect(await record.closed).toBe(reason);
  });

  test('a connection that just ends is clean', async () => {
    const record = recordTransport(openTransport());
    pair.nearStream.end();
    expect(await record.closed).toBeUndefined();
  });

  test('close sends code and reason; its echo is a clean end', async () => {
    const transport = openTransport();
    const record = recordTransport(transport);
    transport.close({ code: 4000, reason: 'é'.repeat(80) });
    const [code, reason] = (await once(pair.near, 'close')) as [number, Buffer];
    expect([code, reason.toString('utf8')]).toEqual([4000, 'é'.repeat(61)]);
    expect(await record.closed).toBeUndefined();
  });

  test('destroy ends at once with its reason', async () => {
    const transport = openTransport();
    const record = recordTransport(transport);
    transport.destroy('enough');
    expect(await record.closed).toBe('enough');
    await once(pair.near, 'close');
  });

  test('a socket that is not open is refused', async () => {
    pair.far.terminate();
    expect(openTransport).toThrow('not open');
  });
});
