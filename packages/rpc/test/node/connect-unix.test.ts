import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ConnectError } from '../../src/index.js';
import { connectUnixSocket } from '../../src/node/index.js';
import { recordTransport } from '../support/record-transport.js';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rpc-unix-'));
});
afterEach(() => rm(directory, { recursive: true }));

test('talks over a Unix socket', async () => {
  const path = join(directory, 's');
  const server = createServer((socket) => socket.pipe(socket)).listen(path);
  await once(server, 'listening');
  const transport = await connectUnixSocket(path);
  expect([transport.label, transport.framing]).toEqual([`exec-server unix ${path}`, 'lines']);
  const record = recordTransport(transport);
  transport.send('"echo"');
  expect(await record.until(1)).toEqual(['"echo"']);
  transport.close();
  expect(await record.closed).toBeUndefined();
  server.close();
});

test('the server closing its end is a clean end', async () => {
  const path = join(directory, 's');
  const server = createServer((socket) => socket.end('1\n')).listen(path);
  await once(server, 'listening');
  const record = recordTransport(await connectUnixSocket(path));
  expect(await record.closed).toBeUndefined();
  expect(record.messages).toEqual(['1']);
  server.close();
});

test('a socket that is not there is a ConnectError with its cause', async () => {
  const failure = await connectUnixSocket(join(directory, 'absent')).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(ConnectError);
  expect(failure).toMatchObject({ status: undefined, cause: { code: 'ENOENT' } });
});
