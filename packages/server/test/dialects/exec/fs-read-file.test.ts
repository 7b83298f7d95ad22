import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import type { Transport, TransportHandlers } from '@exec-server/rpc';
import { expect, it } from 'vitest';
import { openFileSession } from '../../support/files.js';
import { openServer } from '../../support/session.js';

const LIMIT = 512 * 1024 * 1024;

async function openTree() {
  const session = await openFileSession();
  const { path } = session;
  mkdirSync(path('d'));
  writeFileSync(path('d/a'), 'hello');
  symlinkSync('a', path('d/link'));
  symlinkSync('d', path('dlink'));
  symlinkSync('nowhere', path('broken'));
  symlinkSync('loop', path('loop'));
  execFileSync('mkfifo', [path('fifo')]);
  const read = (name: string, params: object = {}) =>
    session.call('fs/readFile', { path: session.uri(name), ...params });
  return { ...session, read };
}

it.each(['d/a', 'd/link', 'dlink/a', 'd/a/'])('reads %s', async (name) => {
  const { read } = await openTree();
  expect(await read(name)).toEqual({ dataBase64: 'aGVsbG8=' });
});

it('refuses what is no regular file, without waiting for it', async () => {
  const { read, path } = await openTree();
  for (const name of ['d', 'fifo'])
    expect(await read(name)).toBe(`-32600 path \`${path(name)}\` is not a file`);
  expect(await read('', { path: 'file:///dev/null' })).toBe('-32600 path `/dev/null` is not a file');
});

it.each([
  ['missing', '-32004 No such file or directory (os error 2)'],
  ['broken', '-32004 No such file or directory (os error 2)'],
  ['d/a/x', '-32603 Not a directory (os error 20)'],
  ['loop', '-32603 Symbolic link loop (os error 40)'],
])('%s: %s', async (name, error) => {
  const { read } = await openTree();
  expect(await read(name)).toBe(error);
});

it.each([
  ['d/a', { dataBase64: 'aGVsbG8=' }],
  ['d/link', '-32603 Symbolic link loop (os error 40)'],
  ['dlink/a', '-32603 Not a directory (os error 20)'],
  ['d', '-32600 path is not a regular file'],
  ['fifo', '-32600 path is not a regular file'],
  ['missing', '-32004 No such file or directory (os error 2)'],
  ['missing/x', '-32004 No such file or directory (os error 2)'],
  ['d/a/x', '-32603 Not a directory (os error 20)'],
])('without following links, %s: %j', async (name, answer) => {
  const { read } = await openTree();
  expect(await read(name, { followSymlinks: false })).toEqual(answer);
});

it('without following links, the root is no entry', async () => {
  const { read } = await openTree();
  expect(await read('', { path: 'file:///', followSymlinks: false })).toBe('-32600 path must name an entry');
});

it('reads files that do not know their size', async () => {
  const { read } = await openTree();
  const { dataBase64 } = (await read('', { path: 'file:///proc/self/status' })) as { dataBase64: string };
  expect(Buffer.from(dataBase64, 'base64').toString()).toContain(`Pid:\t${process.pid}`);
});

it('answers under ids of any kind', async () => {
  const { wire, uri, path } = await openFileSession();
  writeFileSync(path('f'), 'x');
  for (const id of ['a "quoted" id', -7, Number.MAX_SAFE_INTEGER]) {
    wire.send({ id, method: 'fs/readFile', params: { path: uri('f') } });
    const answer = await wire.next((message) => message.id === id, `the answer to ${id}`);
    expect(answer.result).toEqual({ dataBase64: 'eA==' });
  }
});

it('reads large files one after the other, and small ones past them', async () => {
  const { wire, uri, path, call } = await openFileSession();
  const large = Buffer.alloc(9 * 1024 * 1024, 'large ');
  writeFileSync(path('large'), large);
  writeFileSync(path('small'), 'small');
  const reads = Array.from({ length: 4 }, () => wire.request('fs/readFile', { path: uri('large') }));
  expect(await call('fs/readFile', { path: uri('small') })).toEqual({ dataBase64: 'c21hbGw=' });
  for (const { result } of await Promise.all(reads))
    expect(Buffer.from(result?.dataBase64 as string, 'base64').equals(large)).toBe(true);
});

it.each([
  ['links followed', true],
  ['links refused', false],
])('a byte more than 512 MiB is too much, %s', async (_name, followSymlinks) => {
  const { path, uri, call } = await openFileSession();
  writeFileSync(path('huge'), '');
  truncateSync(path('huge'), LIMIT + 1);
  expect(await call('fs/readFile', { path: uri('huge'), followSymlinks })).toBe(
    '-32600 file is too large to read: limit is 536870912 bytes',
  );
});

/** The client's end of a connection that looks at bytes only: the messages here fit into no string. */
class ByteClient implements Transport {
  readonly label = 'bytes';
  readonly framing = 'memory';
  readonly bufferedBytes = 0;
  #handlers: TransportHandlers | undefined;
  #onLine: (line: Uint8Array) => void = () => {};

  open(handlers: TransportHandlers): void {
    this.#handlers = handlers;
  }

  /** Gives the server a message and resolves with the next that it sends. */
  exchange(message: object): Promise<Uint8Array> {
    return new Promise((resolve) => {
      this.#onLine = resolve;
      this.#handlers?.onMessage(JSON.stringify(message));
    });
  }

  send(text: string): void {
    this.#onLine(Buffer.from(text));
  }

  sendBytes(line: Uint8Array): void {
    this.#onLine(line);
  }

  pause(): void {}
  resume(): void {}
  close(): void {
    this.#handlers?.onClose(undefined);
  }
  destroy(): void {
    this.close();
  }
}

it('512 MiB are read, which as base64 is more than a string can hold', async () => {
  const { path, uri } = await openFileSession();
  writeFileSync(path('huge'), 'start');
  truncateSync(path('huge'), LIMIT);
  const client = new ByteClient();
  openServer().accept(client);
  await client.exchange({ id: 1, method: 'initialize', params: { clientName: 'test' } });
  void client.exchange({ method: 'initialized' });
  const line = await client.exchange({ id: 2, method: 'fs/readFile', params: { path: uri('huge') } });
  const head = `{"id":2,"result":{"dataBase64":"${btoa('start\0')}`;
  expect(line.length).toBe(
    '{"id":2,"result":{"dataBase64":"'.length + Math.ceil(LIMIT / 3) * 4 + '"}}\n'.length,
  );
  expect(Buffer.from(line.subarray(0, head.length)).toString()).toBe(head);
  expect(Buffer.from(line.subarray(-8)).toString()).toBe('AAA="}}\n');
});
