import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { createExecServer, type ExecServerOptions, type ListenOptions } from '@exec-server/server';
import { openWire } from '@exec-server/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { TEST_CERTIFICATE as cert, TEST_KEY as key } from '../../packages/server/test/listen/tls-fixture.js';

/** What a client says first over TLS: the head of a record with a handshake of 512 bytes, and a little of it. */
const BEGUN_HELLO = Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03]);
const UPGRADE = [
  'GET / HTTP/1.1',
  'Host: 127.0.0.1',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  '\r\n',
].join('\r\n');

async function listen(scheme: 'ws' | 'wss', options: ListenOptions = {}, server: ExecServerOptions = {}) {
  const made = createExecServer(server);
  onTestFinished(() => made.close());
  const tls = scheme === 'wss' ? { tls: { cert, key } } : {};
  return (await made.listen(`${scheme}://127.0.0.1:0`, { ...options, ...tls })).url;
}

async function openSocket(url: string, allowHalfOpen = false): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port: Number(new URL(url).port), allowHalfOpen });
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  return socket;
}

async function expectToServe(url: string): Promise<void> {
  const wire = await openWire(url, { insecure: true });
  expect((await wire.request('initialize', { clientName: 'test' })).result).toBeDefined();
  await wire.close();
}

/** A masked text frame of a client. */
function frameOf(message: object): Buffer {
  const payload = Buffer.from(JSON.stringify(message));
  expect(payload.length).toBeLessThan(126);
  // A mask of zeros changes nothing.
  return Buffer.concat([Buffer.from([0x81, 0x80 | payload.length, 0, 0, 0, 0]), payload]);
}

/** Hands over one byte at a time, each when the one before has left. */
async function trickle(socket: Socket, bytes: Buffer): Promise<void> {
  for (const byte of bytes) await new Promise((resolve) => socket.write(Buffer.of(byte), resolve));
}

/** Everything that is read until it has that text in it. */
async function readUntil(socket: Socket, text: string): Promise<string> {
  let read = '';
  for (;;) {
    if (read.includes(text)) return read;
    const [data] = (await once(socket, 'data')) as [Buffer];
    read += data.toString('latin1');
  }
}

describe('TLS', () => {
  it.each(['reset', 'end'] as const)('that is cut in the middle of its handshake by a %s', async (how) => {
    const url = await listen('wss');
    for (let count = 0; count < 20; count++) {
      const socket = await openSocket(url);
      socket.on('error', () => {});
      await new Promise((resolve) => socket.write(BEGUN_HELLO, resolve));
      if (how === 'reset') socket.resetAndDestroy();
      else socket.end();
    }
    await expectToServe(url);
  });

  it('that never gets further is ended when its time is over', async () => {
    const url = await listen('wss', { http: { headerTimeoutMs: 1_000 } });
    const socket = await openSocket(url);
    socket.on('error', () => {}).resume();
    socket.write(BEGUN_HELLO);
    await once(socket, 'close');
    await expectToServe(url);
  });

  it('with garbage in place of a handshake, or cut right after it', async () => {
    const url = await listen('wss');
    const garbage = await openSocket(url);
    garbage.on('error', () => {}).resume();
    garbage.write('GET / HTTP/1.1\r\n\r\n');
    await once(garbage, 'close');
    const cut = connectTls({ host: '127.0.0.1', port: Number(new URL(url).port), rejectUnauthorized: false });
    await once(cut, 'secureConnect');
    cut.destroy();
    await expectToServe(url);
  });
});

describe('a client that sends one byte after the other', () => {
  it('is served like any other', async () => {
    const socket = await openSocket(await listen('ws'));
    const upgraded = readUntil(socket, '\r\n\r\n');
    await trickle(socket, Buffer.from(UPGRADE));
    expect(await upgraded).toContain('101 Switching Protocols');
    const answered = readUntil(socket, '"sessionId"');
    await trickle(socket, frameOf({ id: 1, method: 'initialize', params: { clientName: 'slow' } }));
    expect(await answered).toContain('{"id":1,"result":');
  });

  it('and is not done when the time for a request head is over is ended', async () => {
    const url = await listen('ws', { http: { headerTimeoutMs: 1_000 } });
    const socket = await openSocket(url);
    const said = readUntil(socket, '408 Request Timeout');
    await trickle(socket, Buffer.from(UPGRADE).subarray(0, 40));
    await said;
    await expectToServe(url);
  });

  it('and never finishes initialize is ended when its time for that is over', async () => {
    const url = await listen('ws', {}, { handshakeMs: 1_000 });
    const socket = await openSocket(url);
    await trickle(socket, Buffer.from(UPGRADE));
    const said = readUntil(socket, 'no initialize within 1 seconds');
    await trickle(socket, frameOf({ id: 1, method: 'initialize' }).subarray(0, 20));
    await said;
    await expectToServe(url);
  });
});

describe('a socket that is closed in one direction only', () => {
  it('ends its WebSocket, and its session can be resumed', async () => {
    const url = await listen('ws');
    const socket = await openSocket(url, true);
    socket.write(UPGRADE);
    await readUntil(socket, '\r\n\r\n');
    socket.write(frameOf({ id: 1, method: 'initialize', params: { clientName: 'half' } }));
    const answer = await readUntil(socket, '"environmentInfo"');
    const [, sessionId] = /"sessionId":"([^"]+)"/.exec(answer)!;
    socket.end();
    socket.resume();
    await once(socket, 'end');
    const wire = await openWire(url);
    const { result } = await wire.request('initialize', { clientName: 'back', resumeSessionId: sessionId });
    expect(result).toMatchObject({ sessionId });
    await wire.close();
  });
});
