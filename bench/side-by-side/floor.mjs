// What the machine gives at best: the same work with nothing in between.

import { Buffer } from 'node:buffer';
import { spawn } from 'node:child_process';
import { connect, createServer } from 'node:net';

const MIB = 1024 * 1024;

async function seconds(work) {
  const started = process.hrtime.bigint();
  await work();
  return Number(process.hrtime.bigint() - started) / 1e9;
}

const closed = (child) => new Promise((resolve) => child.once('close', resolve));

/** Bare spawns, a bare pipe and a bare socket, from this process. */
export async function measureFloor(scale) {
  process.stderr.write('floor\n');
  const starts = Math.round(100 * scale);
  const spawnSeconds = await seconds(async () => {
    for (let n = 0; n < starts; n++) await closed(spawn('/bin/true', { stdio: 'ignore' }));
  });
  const bytes = Math.round(512 * scale) * MIB;
  const pipeSeconds = await seconds(async () => {
    const child = spawn('/usr/bin/head', ['-c', String(bytes), '/dev/zero'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    child.stdout.on('data', () => {});
    await closed(child);
  });
  return {
    'spawn of `true` by child_process, ms': (spawnSeconds / starts) * 1000,
    'pipe read by a stream, MB/s': bytes / 1e6 / pipeSeconds,
    'loopback socket, MB/s': await measureSocket(bytes),
  };
}

async function measureSocket(bytes) {
  const block = Buffer.alloc(64 * 1024);
  const server = createServer((socket) => {
    let left = bytes;
    const write = () => {
      while (left > 0) {
        left -= block.length;
        if (!socket.write(block)) {
          socket.once('drain', write);
          return;
        }
      }
      socket.end();
    };
    write();
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const took = await seconds(
    () =>
      new Promise((resolve) => {
        const socket = connect(server.address().port, '127.0.0.1');
        socket.on('data', () => {});
        socket.on('close', resolve);
      }),
  );
  server.close();
  return bytes / 1e6 / took;
}
