// What unfinished messages of many connections cost the server, and whether it gives their memory back.
//   node bench/inbound-memory.mjs [--kind frame|fragments|lines] [--connections 40] [--mebibytes 60] [--no-initialize]
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const MIB = 1024 * 1024;
const COMMAND = fileURLToPath(new URL('../packages/cli/bin/exec-server.js', import.meta.url));
const UPGRADE =
  'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
  'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';
const INITIALIZE = '{"id":1,"method":"initialize","params":{"clientName":"bench"}}';
const TEXT = 0x81;
const BEGINNING = 0x01;
const MIDDLE = 0x00;
const PIECE = Buffer.alloc(MIB, 'x');
/** Seconds between one look at the memory and the next, when all clients have gone. */
const LOOKS = [1, 2, 5, 10];

const { values: options } = parseArgs({
  options: {
    kind: { type: 'string', default: 'frame' },
    connections: { type: 'string', default: '40' },
    mebibytes: { type: 'string', default: '60' },
    'no-initialize': { type: 'boolean', default: false },
  },
});
const usesLines = options.kind === 'lines';
const pieces = Number(options.mebibytes);

const directory = await mkdtemp(join(tmpdir(), 'exec-server-inbound-'));
const socketPath = join(directory, 'socket');
const listen = usesLines ? `unix://${socketPath}` : 'ws://127.0.0.1:0';
const server = spawn(process.execPath, [COMMAND, '--listen', listen, '--log-level', 'error'], {
  stdio: ['ignore', 'pipe', 'ignore'],
});
try {
  const [banner] = await once(server.stdout, 'data');
  const address = usesLines
    ? { path: socketPath }
    : { host: '127.0.0.1', port: new URL(String(banner).trim()).port };
  console.log(`idle: ${residentMebibytes()} MiB`);
  const clients = await Promise.all(
    Array.from({ length: Number(options.connections) }, () => openClient(address)),
  );
  const left = clients.filter((socket) => !socket.destroyed);
  console.log(
    `${left.length} of ${clients.length} are left with ${pieces} MiB each: ${residentMebibytes()} MiB`,
  );
  for (const socket of left) socket.destroy();
  for (const seconds of LOOKS) {
    await sleep(seconds * 1000);
    console.log(`${seconds} s later: ${residentMebibytes()} MiB`);
  }
} finally {
  server.kill();
  await rm(directory, { recursive: true });
}

/** Resolves when everything is sent, or the server has ended the connection. */
async function openClient(address) {
  const socket = connect(address);
  const closed = new Promise((resolve) => socket.on('close', resolve));
  socket.on('error', () => {});
  await once(socket, 'connect');
  if (!usesLines) {
    socket.write(UPGRADE);
    await once(socket, 'data');
  }
  socket.resume();
  if (!options['no-initialize'])
    socket.write(usesLines ? `${INITIALIZE}\n` : frame(TEXT, Buffer.from(INITIALIZE)));
  if (options.kind === 'frame') socket.write(frame(TEXT, Buffer.alloc(0), pieces * MIB + 1));
  for (let sent = 0; sent < pieces; sent++) {
    const piece = options.kind === 'fragments' ? frame(sent === 0 ? BEGINNING : MIDDLE, PIECE) : PIECE;
    const taken = new Promise((resolve) => socket.write(piece, resolve));
    await Promise.race([taken, closed]);
    if (socket.destroyed) break;
  }
  return socket;
}

/** A frame that masks nothing. */
function frame(first, payload, announced = payload.length) {
  const head = Buffer.alloc(14);
  head[0] = first;
  head[1] = 0xff;
  head.writeBigUInt64BE(BigInt(announced), 2);
  return Buffer.concat([head, payload]);
}

function residentMebibytes() {
  const [, kibibytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'));
  return Math.round(Number(kibibytes) / 1024);
}
