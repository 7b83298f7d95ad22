import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { encodeClientFrame, textFrame, ZERO_KEY } from '../../packages/rpc/test/support/client-frames.js';
import { openSession, serve } from './session.js';

const MIB = 1024 * 1024;
const CLIENTS = 8;
const MESSAGE_BYTES = 40 * MIB;
const FRAME_BYTES = 8 * MIB;
const UPGRADE =
  'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
  'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';
const INITIALIZE = '{"id":1,"method":"initialize","params":{"clientName":"e2e"}}';

/** Memory of a process that the system has for it, in bytes. */
function residentBytes(pid: number): number {
  const [, kibibytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kibibytes) * 1024;
}

/** A client that has shaken hands and sends a message without its end. */
async function sendUnfinished(port: number, frames: readonly Buffer[]): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  socket.write(UPGRADE);
  await once(socket, 'data');
  socket.resume();
  socket.write(textFrame(INITIALIZE));
  for (const frame of frames) await new Promise((resolve) => socket.write(frame, resolve));
  return socket;
}

const payload = Buffer.alloc(MESSAGE_BYTES, 'x');
const inFragments = Array.from({ length: MESSAGE_BYTES / FRAME_BYTES }, (_, index) =>
  encodeClientFrame({
    first: index === 0 ? 0x01 : 0x00,
    payload: payload.subarray(0, FRAME_BYTES),
    key: ZERO_KEY,
  }),
);

it.runIf(process.platform === 'linux').each([
  ['one frame', [textFrame(payload, ZERO_KEY).subarray(0, -1)]],
  ['fragments', inFragments],
])('memory of messages that never end, in %s, comes back when their clients go', async (_, frames) => {
  const server = await serve();
  const { wire } = await openSession(server.url);
  const idleBytes = residentBytes(server.pid);
  const clients = await Promise.all(
    Array.from({ length: CLIENTS }, () => sendUnfinished(server.port, frames)),
  );
  const heldBytes = CLIENTS * (MESSAGE_BYTES - MIB);
  // The last of it may still be in the kernel.
  while (residentBytes(server.pid) < idleBytes + heldBytes) await wire.request('environment/status');
  for (const client of clients) client.destroy();
  // Asked for nothing more, V8 would keep it for good.
  while (residentBytes(server.pid) > idleBytes + heldBytes / 4) await nextTurn();
  expect((await wire.request('environment/status')).result).toEqual({ status: 'ready' });
});
