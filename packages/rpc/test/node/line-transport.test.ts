import { once } from 'node:events';
import { PassThrough, Writable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Transport } from '../../src/index.js';
import { createLineTransport, type LineTransportOptions } from '../../src/node/index.js';
import { recordTransport } from '../support/record-transport.js';
import { connectSockets, readAll, type SocketPair } from '../support/socket-pair.js';

let pair: SocketPair;
beforeEach(async () => {
  pair = await connectSockets();
});
afterEach(() => pair.close());

function overSocket(options: Partial<LineTransportOptions> = {}): Transport {
  return createLineTransport({ input: pair.near, output: pair.near, label: 'exec-server test', ...options });
}

describe('reading lines', () => {
  test('skips blank lines, takes CRLF, and delivers a last line without newline', async () => {
    const record = recordTransport(overSocket());
    pair.far.end('1\r\n\n  \t\n\r\n"é"\n\u00a0\n3');
    expect(await record.until(3)).toEqual(['1', '"é"', '3']);
    expect(await record.closed).toBeUndefined();
  });

  test('a last line without newline can be one that broke off', async () => {
    const record = recordTransport(overSocket({ unfinishedLine: 'broken' }));
    pair.far.end('1\n{"id":2,"resu');
    expect(await record.closed).toBeUndefined();
    expect(record.messages).toEqual(['1']);
  });

  test('delivers the same wherever the stream is split', async () => {
    const bytes = Buffer.from('{"a":"é😀"}\r\n\n[1]\n');
    const record = recordTransport(overSocket());
    pair.far.setNoDelay(true);
    for (let at = 0; at <= bytes.length; at++) {
      await new Promise((resolve) => pair.far.write(bytes.subarray(0, at), resolve));
      pair.far.write(bytes.subarray(at));
      await record.until(2 * (at + 1));
    }
    expect(new Set(record.messages)).toEqual(new Set(['{"a":"é😀"}', '[1]']));
  });

  test('delivers what arrived before it was opened', async () => {
    const transport = overSocket();
    pair.far.end('early\n');
    await once(pair.near, 'readable');
    expect(await recordTransport(transport).until(1)).toEqual(['early']);
  });

  test.each([7, 8])('a limit of 8 bytes lets %i bytes through', async (length) => {
    const record = recordTransport(overSocket({ maxMessageBytes: 8 }));
    pair.far.write(`${'1'.repeat(length)}\n`);
    expect(await record.until(1)).toEqual(['1'.repeat(length)]);
  });

  test('a longer line ends the connection with a reason, and nothing after it is read', async () => {
    const record = recordTransport(overSocket({ maxMessageBytes: 8 }));
    pair.far.end('1\n123456789\n2\n');
    pair.far.resume();
    expect(await record.closed).toBe('line exceeds the limit of 8 bytes');
    expect(record.messages).toEqual(['1']);
  });

  test('a longer last line without newline does so too', async () => {
    const record = recordTransport(overSocket({ maxMessageBytes: 8 }));
    pair.far.end('123456789');
    pair.far.resume();
    expect(await record.closed).toBe('line exceeds the limit of 8 bytes');
  });

  test('a line of 64 MiB passes', async () => {
    const record = recordTransport(overSocket());
    const line = Buffer.alloc(64 * 1024 * 1024 + 1, '1');
    line[line.length - 1] = 0x0a;
    pair.far.write(line);
    expect((await record.until(1))[0]).toHaveLength(64 * 1024 * 1024);
  });

  test('a line that is not UTF-8 ends the connection; answers already queued arrive', async () => {
    const transport = overSocket();
    const record = recordTransport(transport, { onMessage: (text) => transport.send(`answer ${text}`) });
    pair.far.write(Buffer.from([0x31, 0x0a, 0xff, 0x0a, 0x32, 0x0a]));
    expect(await readAll(pair.far)).toBe('answer 1\n');
    expect(await record.closed).toBe('stream did not contain valid UTF-8');
    expect(record.messages).toEqual(['1']);
  });

  test('a line that is not UTF-8 costs only itself where that is asked for', async () => {
    const record = recordTransport(overSocket({ onInvalidUtf8: 'report' }));
    pair.far.write(Buffer.from([0xff, 0x0a, 0x32, 0x0a]));
    expect(await record.until(1)).toEqual(['2']);
    expect(record.malformed).toEqual(['invalid unicode code point']);
  });

  test('a paused transport stops reading until it is resumed', async () => {
    const transport = overSocket();
    const record = recordTransport(transport);
    transport.pause();
    const lineBytes = 64 * 1024;
    const flood = Buffer.alloc(32 * 1024 * 1024, `${'1'.repeat(lineBytes - 1)}\n`);
    let written = false;
    pair.far.write(flood, () => {
      written = true;
    });
    // Two turns of the loop after the kernel took what it can, the rest must still be with the sender.
    while (pair.far.bytesWritten === 0) await new Promise(setImmediate);
    await new Promise(setImmediate);
    expect(written).toBe(false);
    expect(record.messages).toEqual([]);
    transport.resume();
    await record.until(flood.length / lineBytes);
  });

  test('pause before open holds', async () => {
    const transport = overSocket();
    transport.pause();
    const record = recordTransport(transport);
    pair.far.write('1\n');
    await new Promise(setImmediate);
    expect(record.messages).toEqual([]);
    transport.resume();
    expect(await record.until(1)).toEqual(['1']);
  });
});

describe('writing lines', () => {
  test('sends text and bytes in order, each with one newline', async () => {
    const transport = overSocket();
    recordTransport(transport);
    transport.send('{"a":"é"}');
    transport.sendBytes(Buffer.from('[1]\n'));
    transport.close();
    expect(await readAll(pair.far)).toBe('{"a":"é"}\n[1]\n');
  });

  test('joins the sends of one tick into one write', async () => {
    const writes: string[][] = [];
    const output = new Writable({
      write(chunk: Buffer, _encoding, done) {
        writes.push([String(chunk)]);
        done();
      },
      writev(chunks, done) {
        writes.push(chunks.map(({ chunk }) => String(chunk)));
        done();
      },
    });
    const transport = createLineTransport({ input: new PassThrough(), output, label: 'test' });
    const record = recordTransport(transport);
    transport.send('1');
    transport.send('2');
    transport.sendBytes(Buffer.from('3\n'));
    expect(writes).toEqual([]);
    await record.when(() => record.drains() === 3);
    transport.send('4');
    await record.when(() => record.drains() === 4);
    expect(writes).toEqual([['1\n', '2\n', '3\n'], ['4\n']]);
  });

  test('counts the bytes that the output has not flushed', async () => {
    let release = () => {};
    const output = new Writable({
      write(_chunk, _encoding, done) {
        release = done;
      },
    });
    const transport = createLineTransport({ input: new PassThrough(), output, label: 'test' });
    const record = recordTransport(transport);
    transport.send('é');
    expect(transport.bufferedBytes).toBe(3);
    await new Promise((resolve) => process.nextTick(resolve));
    expect(transport.bufferedBytes).toBe(3);
    release();
    await record.when(() => record.drains() === 1);
    expect(transport.bufferedBytes).toBe(0);
  });

  test('a reader that is gone is an end with a reason, not an unhandled error', async () => {
    const transport = overSocket();
    const record = recordTransport(transport);
    pair.far.resetAndDestroy();
    transport.send('1');
    expect(await record.closed).toMatch(/EPIPE|ECONNRESET/);
    transport.send('2');
    transport.close();
    expect(transport.bufferedBytes).toBe(0);
  });

  test('an output that fails ends the transport', async () => {
    const output = new Writable({
      write(_chunk, _encoding, done) {
        done(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
      },
    });
    const transport = createLineTransport({ input: new PassThrough(), output, label: 'test' });
    const record = recordTransport(transport);
    transport.send('1');
    transport.send('2');
    expect(await record.closed).toBe('write EPIPE');
  });
});

describe('the end', () => {
  test('close flushes a large queue to a reader that starts late', async () => {
    const transport = overSocket();
    const record = recordTransport(transport);
    const text = 'x'.repeat(16 * 1024 * 1024);
    transport.send(text);
    transport.close();
    transport.send('too late');
    expect((await readAll(pair.far)).length).toBe(text.length + 1);
    pair.far.end();
    expect(await record.closed).toBeUndefined();
  });

  test('close gives up on a reader that never reads', async () => {
    const transport = overSocket({ closeTimeoutMs: 10 });
    const record = recordTransport(transport);
    transport.send('x'.repeat(64 * 1024 * 1024));
    transport.close();
    expect(await record.closed).toBe('connection did not close in time');
    expect(transport.bufferedBytes).toBe(0);
  });

  test('close delivers nothing any more', async () => {
    const transport = overSocket();
    const record = recordTransport(transport, { onMessage: () => transport.close() });
    pair.far.end('1\n2\n');
    pair.far.resume();
    expect(await record.closed).toBeUndefined();
    expect(record.messages).toEqual(['1']);
  });

  test('destroy ends at once with its reason', async () => {
    const transport = overSocket();
    const record = recordTransport(transport);
    transport.destroy('kicked out');
    expect(await record.closed).toBe('kicked out');
    pair.far.on('error', () => {});
    await readAll(pair.far).catch(() => '');
  });

  test('a half-open owner may still answer after the end of input', async () => {
    await pair.close();
    pair = await connectSockets({ allowHalfOpen: true });
    const transport = overSocket();
    const record = recordTransport(transport, {
      onEnd() {
        setImmediate(() => {
          transport.send('answer');
          transport.close();
        });
      },
    });
    pair.far.end('question\n');
    expect(await readAll(pair.far)).toBe('answer\n');
    expect(await record.closed).toBeUndefined();
    expect(record.messages).toEqual(['question']);
  });

  test('separate streams: the end of input is one owner may answer after, too', async () => {
    const input = new PassThrough();
    const output = new PassThrough();
    const transport = createLineTransport({ input, output, label: 'test' });
    const record = recordTransport(transport, {
      onEnd() {
        setImmediate(() => {
          transport.send('answer');
          transport.close();
        });
      },
    });
    input.end('question');
    expect(String((await once(output, 'data'))[0])).toBe('answer\n');
    expect(await record.closed).toBeUndefined();
  });

  test('separate streams: without an owner that waits, the end of input is the end', async () => {
    const input = new PassThrough();
    const output = new PassThrough();
    const record = recordTransport(createLineTransport({ input, output, label: 'test' }));
    input.end();
    expect(await record.closed).toBeUndefined();
    expect([input.destroyed, output.destroyed]).toEqual([true, true]);
  });

  test('an input that breaks off is an end', async () => {
    const input = new PassThrough();
    const record = recordTransport(createLineTransport({ input, output: new PassThrough(), label: 'test' }));
    input.destroy();
    expect(await record.closed).toBeUndefined();
  });
});

test('what comes is activity, over sockets and other streams', async () => {
  const input = new PassThrough();
  for (const [transport, far] of [
    [overSocket(), pair.far],
    [createLineTransport({ input, output: new PassThrough(), label: 'exec-server test' }), input],
  ] as const) {
    const record = recordTransport(transport);
    const before = transport.measureActivity?.(1_000);
    expect(transport.measureActivity?.(1_000)).toBe(before);
    far.write('1\n');
    await record.until(1);
    expect(transport.measureActivity?.(1_000)).not.toBe(before);
  }
});

test('memory of a line is free once it has left, and never where it is lost', async () => {
  const transport = overSocket();
  recordTransport(transport);
  const received = readAll(pair.far);
  await new Promise<void>((resolve) => transport.sendBytes(Buffer.from('"line"\n'), resolve));
  transport.destroy('over');
  let freed = false;
  transport.sendBytes(Buffer.from('"lost"\n'), () => {
    freed = true;
  });
  expect(String(await received)).toBe('"line"\n');
  expect(freed).toBe(false);
});
