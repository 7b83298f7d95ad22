import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openListener } from '../../src/listen/open-listener.js';
import { MAX_SOCKET_DIRECTORY_BYTES, MAX_SOCKET_PATH_BYTES } from '../../src/listen/socket-file.js';
import { asNobodyUntil, NOBODY, requireRoot } from '../support/cgroups.js';
import { createEcho } from './support.js';

let directory: string;
const cleanups: (() => unknown)[] = [];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'unix-'));
});
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  rmSync(directory, { recursive: true });
});

async function listen(path: string, echo = createEcho()) {
  const listener = await openListener(`unix://${path}`, {}, echo.accept);
  cleanups.push(() => listener.close());
  return { ...echo, listener };
}

async function openSocket(path: string): Promise<Socket> {
  const socket = connect(path);
  cleanups.push(() => socket.destroy());
  await once(socket, 'connect');
  return socket;
}

/** Leaves a socket file behind, as a killed server does: Node removes it only when it closes in order. */
function leaveStaleSocket(path: string): void {
  const script = `require('node:net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 9))`;
  spawnSync(process.execPath, ['-e', script]);
  expect(lstatSync(path).isSocket()).toBe(true);
}

const conflict = (path: string) => ({
  code: 'bind_failed',
  message: `cannot listen on unix://${path}: Address in use (os error 98)`,
});

it('takes connections that speak lines, also half-open ones', async () => {
  const path = join(directory, 'a.sock');
  const { listener, connections, labels } = await listen(path);
  expect(listener.url).toBe(`unix://${path}`);
  const socket = await openSocket(path);
  socket.end('{"id":1}\n{"id":2}');
  const lines: string[] = [];
  for await (const line of createInterface({ input: socket })) lines.push(line);
  expect(lines).toEqual(['{"id":1}', '{"id":2}']);
  expect(connections).toEqual([
    expect.objectContaining({ principal: { kind: 'anonymous' }, remote: path, resumable: true }),
  ]);
  expect(labels).toEqual([`exec-server unix ${path}`]);
});

it('answers a line that is no text and goes on', async () => {
  const path = join(directory, 'a.sock');
  await listen(path);
  const socket = await openSocket(path);
  socket.write(Buffer.from([0xff, 0x0a]));
  expect(String((await once(socket, 'data'))[0])).toBe('malformed: invalid unicode code point\n');
});

it('is for its user only, and leaves nothing else in the directory', async () => {
  const path = join(directory, 'a.sock');
  const { listener } = await listen(path);
  expect(lstatSync(path).mode & 0o777).toBe(0o600);
  expect(readdirSync(directory)).toEqual(['a.sock']);
  await listener.close();
  await listener.ended;
  expect(readdirSync(directory)).toEqual([]);
});

it('needs no directory but that of the socket', async (test) => {
  requireRoot(test);
  const own = join(directory, 'own');
  mkdirSync(own, { mode: 0o700 });
  chownSync(own, NOBODY, NOBODY);
  // As it is in /run/user: everybody may pass through it, nobody but root may write to it.
  chmodSync(directory, 0o755);
  const path = join(own, 'a.sock');
  const { listener } = await asNobodyUntil(() => listen(path));
  await openSocket(path);
  await asNobodyUntil(() => listener.close());
  expect(readdirSync(own)).toEqual([]);
});

it('can stand in the root of a file system', async (test) => {
  const root = '/dev/shm';
  const device = lstatSync(root, { throwIfNoEntry: false })?.dev;
  if (device === undefined || device === lstatSync('/dev').dev)
    test.skip('/dev/shm is no file system of its own');
  const path = join(root, `exec-server-test-${process.pid}.sock`);
  const { listener } = await listen(path);
  await openSocket(path);
  await listener.close();
  expect(lstatSync(path, { throwIfNoEntry: false })).toBeUndefined();
});

it('lets connections go on when it closes', async () => {
  const path = join(directory, 'a.sock');
  const { listener } = await listen(path);
  const socket = await openSocket(path);
  socket.write('a\n');
  await once(socket, 'data');
  await listener.close();
  socket.write('b\n');
  expect(String((await once(socket, 'data'))[0])).toBe('b\n');
  await expect(openSocket(path)).rejects.toMatchObject({ code: 'ENOENT' });
});

it('replaces the socket of a server that is gone', async () => {
  const path = join(directory, 'a.sock');
  leaveStaleSocket(path);
  await listen(path);
  await openSocket(path);
  expect(readdirSync(directory)).toEqual(['a.sock']);
});

it('refuses the place of a server that listens, and does not disturb it', async () => {
  const path = join(directory, 'a.sock');
  await listen(path);
  await expect(listen(path)).rejects.toMatchObject(conflict(path));
  await openSocket(path);
  expect(readdirSync(directory)).toEqual(['a.sock']);
});

it('leaves a server at a stale place that many want at once', async () => {
  const path = join(directory, 'a.sock');
  leaveStaleSocket(path);
  const attempts = await Promise.allSettled(Array.from({ length: 8 }, () => listen(path)));
  const started = attempts.filter(({ status }) => status === 'fulfilled');
  expect(started.length).toBeGreaterThanOrEqual(1);
  await openSocket(path);
});

it('refuses a place that is no socket', async () => {
  const path = join(directory, 'file');
  writeFileSync(path, 'precious');
  await expect(listen(path)).rejects.toMatchObject({
    code: 'bind_failed',
    message: `cannot listen on unix://${path}: the file exists and is no socket`,
  });
  mkdirSync(join(directory, 'folder'));
  await expect(listen(join(directory, 'folder'))).rejects.toMatchObject({ code: 'bind_failed' });
  expect(readdirSync(directory)).toEqual(['file', 'folder']);
});

it('refuses a directory that is missing', async () => {
  const path = join(directory, 'missing', 'a.sock');
  await expect(listen(path)).rejects.toMatchObject({
    code: 'bind_failed',
    message: `cannot listen on unix://${path}: No such file or directory (os error 2)`,
  });
});

it('does not remove the socket of another that took its place', async () => {
  const path = join(directory, 'a.sock');
  const { listener } = await listen(path);
  rmSync(path);
  const other = createServer().listen(path);
  cleanups.push(() => other.close());
  await once(other, 'listening');
  await listener.close();
  expect(readdirSync(directory)).toEqual(['a.sock']);
});

it.each([
  [MAX_SOCKET_PATH_BYTES - 1, true],
  [MAX_SOCKET_PATH_BYTES, true],
  [MAX_SOCKET_PATH_BYTES + 1, false],
])('a path of %d bytes fits: %s', async (bytes, fits) => {
  const path = join(directory, 'x'.repeat(bytes - directory.length - 1));
  if (fits) {
    await listen(path);
    await openSocket(path);
  } else {
    await expect(listen(path)).rejects.toMatchObject({
      code: 'bind_failed',
      message:
        `cannot listen on unix://${path}: the path has ${bytes} bytes, ` +
        `and that of a socket has at most ${MAX_SOCKET_PATH_BYTES}; choose a shorter one`,
    });
    expect(readdirSync(directory)).toEqual([]);
  }
});

it.each([
  [MAX_SOCKET_DIRECTORY_BYTES - 1, true],
  [MAX_SOCKET_DIRECTORY_BYTES, true],
  [MAX_SOCKET_DIRECTORY_BYTES + 1, false],
])('a directory of %d bytes fits: %s', async (bytes, fits) => {
  const long = join(directory, 'x'.repeat(bytes - directory.length - 1));
  mkdirSync(long);
  const path = join(long, 's');
  if (fits) {
    await listen(path);
    await openSocket(path);
  } else {
    await expect(listen(path)).rejects.toMatchObject({
      code: 'bind_failed',
      message:
        `cannot listen on unix://${path}: the directory has ${bytes} bytes, ` +
        `and that of a socket has at most ${MAX_SOCKET_DIRECTORY_BYTES}; choose a shorter one`,
    });
    expect(readdirSync(long)).toEqual([]);
  }
});
