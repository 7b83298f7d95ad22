import { describe, expect, test } from 'vitest';
import { createMemoryTransportPair } from '../src/index.js';
import { recordTransport } from './support/record-transport.js';

describe('createMemoryTransportPair', () => {
  test('delivers in order, never within the call that sends', async () => {
    const [a, b] = createMemoryTransportPair('left', 'right');
    expect([a.label, b.label, a.framing]).toEqual(['left', 'right', 'memory']);
    const right = recordTransport(b);
    a.send('1');
    a.sendBytes(new TextEncoder().encode('"é"\n'));
    expect(right.messages).toEqual([]);
    expect(await right.until(2)).toEqual(['1', '"é"']);
  });

  test('delivers what was sent before the other side opened', async () => {
    const [a, b] = createMemoryTransportPair();
    a.send('early');
    await Promise.resolve();
    expect(await recordTransport(b).until(1)).toEqual(['early']);
  });

  test('counts bytes, not characters, until they are delivered', async () => {
    const [a, b] = createMemoryTransportPair();
    const left = recordTransport(a);
    a.send('é');
    a.sendBytes(new TextEncoder().encode('1234\n'));
    expect(a.bufferedBytes).toBe(6);
    await recordTransport(b).until(2);
    await left.when(() => left.drains() === 2);
    expect(a.bufferedBytes).toBe(0);
  });

  test('a paused side keeps the bytes buffered until it resumes', async () => {
    const [a, b] = createMemoryTransportPair();
    recordTransport(a);
    const right = recordTransport(b, { onMessage: () => b.pause() });
    a.send('1');
    a.send('2');
    await right.until(1);
    await Promise.resolve();
    expect(a.bufferedBytes).toBe(1);
    b.resume();
    expect(await right.until(2)).toEqual(['1', '2']);
  });

  test('close lets queued messages through, then ends both sides cleanly', async () => {
    const [a, b] = createMemoryTransportPair();
    const left = recordTransport(a);
    a.send('last');
    a.close();
    a.send('too late');
    const right = recordTransport(b);
    expect(await left.closed).toBeUndefined();
    expect(await right.closed).toBeUndefined();
    expect(right.messages).toEqual(['last']);
    expect(a.bufferedBytes).toBe(0);
  });

  test('close waits with the end while the other side is paused', async () => {
    const [a, b] = createMemoryTransportPair();
    recordTransport(a);
    const right = recordTransport(b);
    b.pause();
    a.send('kept');
    a.close({ code: 1008, reason: 'policy' });
    b.resume();
    expect(await right.closed).toBe('closed with code 1008: policy');
    expect(right.messages).toEqual(['kept']);
  });

  test('destroy drops what is queued and tells both sides why', async () => {
    const [a, b] = createMemoryTransportPair();
    const left = recordTransport(a);
    const right = recordTransport(b);
    a.send('lost');
    a.destroy('broken');
    expect([await left.closed, await right.closed]).toEqual(['broken', 'broken']);
    expect(right.messages).toEqual([]);
  });

  test('destroy within a delivery stops the rest of it', async () => {
    const [a, b] = createMemoryTransportPair();
    recordTransport(a);
    const right = recordTransport(b, { onMessage: () => a.destroy('enough') });
    a.send('1');
    a.send('2');
    expect(await right.closed).toBe('enough');
    expect(right.messages).toEqual(['1']);
  });

  test('the end is told once, also to an owner that comes late', async () => {
    const [a, b] = createMemoryTransportPair();
    a.destroy('first');
    a.destroy('second');
    a.close();
    expect(await recordTransport(a).closed).toBe('first');
    expect(await recordTransport(b).closed).toBe('first');
  });

  test('carries binary messages in order with the others, as copies, counted in bytes', async () => {
    const [a, b] = createMemoryTransportPair();
    const arrived: unknown[] = [];
    const frame = Uint8Array.of(0, 0xff, 1);
    a.send('before');
    a.sendBinary?.(frame);
    a.send('after');
    expect(a.bufferedBytes).toBe('before'.length + frame.length + 'after'.length);
    frame.fill(9);
    const right = recordTransport(b, {
      onMessage: (text) => arrived.push(text),
      onBinary: (bytes) => arrived.push(bytes),
    });
    await right.until(2);
    expect(arrived).toEqual(['before', Uint8Array.of(0, 0xff, 1), 'after']);
    a.close();
    a.sendBinary?.(frame);
    expect(await right.closed).toBeUndefined();
    expect(arrived).toHaveLength(3);
  });

  test('puts the parts of a binary message together', async () => {
    const [a, b] = createMemoryTransportPair();
    const arrived: Uint8Array[] = [];
    const right = recordTransport(b, { onBinary: (bytes) => arrived.push(bytes) });
    const rest = Uint8Array.of(2, 3);
    a.sendBinary?.(Uint8Array.of(1), rest, () => rest.fill(0));
    expect(a.bufferedBytes).toBe(3);
    a.close();
    await right.closed;
    expect(arrived).toEqual([Uint8Array.of(1, 2, 3)]);
  });

  test('reads binary messages as text for an owner that takes no others', async () => {
    const [a, b] = createMemoryTransportPair();
    a.sendBinary?.(Uint8Array.of(0xff));
    a.sendBinary?.(new TextEncoder().encode('"é"'));
    const right = recordTransport(b);
    expect(await right.until(1)).toEqual(['"é"']);
    expect(right.malformed).toEqual(['invalid unicode code point']);
  });

  test('hands objects over as they are, in order with the others, counted as they say', async () => {
    const [a, b] = createMemoryTransportPair();
    const arrived: unknown[] = [];
    const right = recordTransport(b, {
      onMessage: (text) => arrived.push(text),
      onObject: (message) => arrived.push(message),
    });
    const message = { of: 'any shape' };
    a.send('before');
    a.sendObject?.(message, 1000);
    a.send('after');
    expect(a.bufferedBytes).toBe('before'.length + 1000 + 'after'.length);
    await right.until(2);
    expect(a.bufferedBytes).toBe(0);
    expect(arrived).toEqual(['before', message, 'after']);
    expect(arrived[1]).toBe(message);
    a.close();
    a.sendObject?.(message, 1000);
    expect(await right.closed).toBeUndefined();
    expect(arrived).toHaveLength(3);
  });

  test('carries objects to an owner that takes them, once it is there', () => {
    const [a, b] = createMemoryTransportPair();
    expect([a.carriesObjects, b.carriesObjects]).toEqual([false, false]);
    recordTransport(a, { onObject() {} });
    recordTransport(b);
    expect([a.carriesObjects, b.carriesObjects]).toEqual([false, true]);
  });

  test('has one owner', () => {
    const [a] = createMemoryTransportPair();
    recordTransport(a);
    expect(() => a.open({ onMessage() {}, onMalformed() {}, onDrain() {}, onClose() {} })).toThrow(
      'already open',
    );
  });
});
