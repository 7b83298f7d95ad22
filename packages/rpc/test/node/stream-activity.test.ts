import { once } from 'node:events';
import { type AddressInfo, createConnection, createServer, type Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { describe, expect, onTestFinished, test } from 'vitest';
import { StreamActivity } from '../../src/node/stream-activity.js';

/** Long enough that only a stream that stands still is found to, in milliseconds. */
const LOOK_MS = 60;

/** More than the buffers of both ends hold. */
const FLOOD = Buffer.alloc(32 * 1024 * 1024);

async function connectSockets(): Promise<{ near: Socket; far: Socket }> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const near = createConnection((server.address() as AddressInfo).port, '127.0.0.1');
  const [far] = (await once(server, 'connection')) as [Socket];
  near.on('error', () => {});
  onTestFinished(() => {
    near.destroy();
    far.destroy();
    server.close();
  });
  return { near, far };
}

describe('of a socket', () => {
  test('silence is no activity, and each byte that comes is', async () => {
    const { near, far } = await connectSockets();
    const activity = new StreamActivity(near, near);
    const before = activity.measure(LOOK_MS);
    expect(activity.measure(LOOK_MS)).toBe(before);
    near.resume();
    far.write('x');
    await once(near, 'data');
    expect(activity.measure(LOOK_MS)).not.toBe(before);
  });

  test('what is sent and taken at once tells nothing', async () => {
    const { near, far } = await connectSockets();
    const activity = new StreamActivity(near, near);
    const before = activity.measure(LOOK_MS);
    await new Promise((resolve) => near.write('x', resolve));
    await once(far.resume(), 'data');
    expect(activity.measure(LOOK_MS)).toBe(before);
  });

  test('a write that nobody takes stands still, however large, and moves again when it is taken', async () => {
    const { near, far } = await connectSockets();
    const activity = new StreamActivity(near, near);
    near.write(FLOOD);
    activity.measure(LOOK_MS);
    await once(near, 'timeout');
    const stalled = activity.measure(LOOK_MS);
    await once(near, 'timeout');
    expect(activity.measure(LOOK_MS)).toBe(stalled);
    // In pieces, so that most of the write is still to come when it is looked at.
    far.once('data', () => far.pause());
    await once(far, 'data');
    expect(near.writableLength).toBeGreaterThan(0);
    expect(activity.measure(LOOK_MS)).not.toBe(stalled);
  });

  test('a connection that is silent afterwards keeps no timeout of its own', async () => {
    const { near, far } = await connectSockets();
    const activity = new StreamActivity(near, near);
    near.write(FLOOD);
    activity.measure(LOOK_MS);
    far.resume();
    await once(near, 'drain');
    activity.measure(LOOK_MS);
    expect(near.timeout).toBe(0);
  });
});

describe('of streams that count nothing', () => {
  test('what comes is noted by who reads it', () => {
    const activity = new StreamActivity(new PassThrough(), new PassThrough());
    const before = activity.measure(LOOK_MS);
    expect(activity.measure(LOOK_MS)).toBe(before);
    activity.noteReceived();
    expect(activity.measure(LOOK_MS)).not.toBe(before);
  });

  test('a queue that changes moves, one that does not stands still', () => {
    const output = new PassThrough({ highWaterMark: 1 });
    const activity = new StreamActivity(new PassThrough(), output);
    const empty = activity.measure(LOOK_MS);
    for (const text of ['a', 'bc', 'def']) output.write(text);
    const queued = activity.measure(LOOK_MS);
    expect(queued).not.toBe(empty);
    expect(activity.measure(LOOK_MS)).toBe(queued);
    output.read();
    expect(activity.measure(LOOK_MS)).not.toBe(queued);
  });
});
