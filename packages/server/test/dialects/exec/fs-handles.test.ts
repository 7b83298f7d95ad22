import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, renameSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import {
  MAX_FILE_BLOCK_BYTES,
  MAX_FILE_HANDLE_ID_BYTES,
  MAX_OPEN_FILE_HANDLES,
  nativeToPathUri,
} from '@exec-server/protocol';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openServer, openSession } from '../../support/session.js';
import { makeTempDirectory } from '../../support/temp-directory.js';

async function openHandles() {
  const directory = await makeTempDirectory();
  const wire = await openSession(openServer());
  const at = (name: string) => join(directory, name);
  const ask = async (method: string, params: object) => {
    const { result, error } = await wire.request(method, params);
    return error ?? result;
  };
  return {
    wire,
    at,
    open: (handleId: string, name: string, mode?: string) =>
      ask('fs/open', { handleId, path: nativeToPathUri(at(name)), mode }),
    read: (handleId: string, offset: number, len: number) => ask('fs/readBlock', { handleId, offset, len }),
    write: (handleId: string, offset: number, data: string | Uint8Array) =>
      ask('fs/writeBlock', { handleId, offset, chunk: Buffer.from(data).toString('base64') }),
    close: (handleId: string) => ask('fs/close', { handleId }),
  };
}

const block = (text: string, eof: boolean) => ({ chunk: btoa(text), eof });
const refused = (message: string) => ({ code: -32600, message });
const unknown = (handleId: string) => ({ code: -32004, message: `unknown file handle \`${handleId}\`` });
const lengthRefused = (operation: string) =>
  refused(`file ${operation} block length must be between 1 and ${MAX_FILE_BLOCK_BYTES}`);

describe('reading', () => {
  it('says the end only where fewer bytes were left than asked for', async () => {
    const { at, open, read } = await openHandles();
    writeFileSync(at('f'), '0123456789');
    expect(await open('h', 'f')).toEqual({ handleId: 'h' });
    expect(await read('h', 0, 4)).toEqual(block('0123', false));
    expect(await read('h', 6, 4)).toEqual(block('6789', false));
    expect(await read('h', 6, 5)).toEqual(block('6789', true));
    expect(await read('h', 10, 1)).toEqual(block('', true));
    expect(await read('h', 2 ** 62, 1)).toEqual(block('', true));
  });

  it('takes block lengths of 1 to the limit, and a refused length leaves the handle open', async () => {
    const { at, open, read } = await openHandles();
    writeFileSync(at('f'), Buffer.alloc(MAX_FILE_BLOCK_BYTES + 1, 'x'));
    await open('h', 'f');
    for (const length of [0, MAX_FILE_BLOCK_BYTES + 1])
      expect(await read('h', 0, length)).toMatchObject(lengthRefused('read'));
    expect(await read('h', 0, 1)).toEqual(block('x', false));
    for (const length of [MAX_FILE_BLOCK_BYTES - 1, MAX_FILE_BLOCK_BYTES])
      expect(await read('h', 0, length)).toEqual(block('x'.repeat(length), false));
    // The length is looked at before the handle.
    expect(await read('none', 0, 0)).toMatchObject(lengthRefused('read'));
    expect(await read('none', 0, 1)).toMatchObject(unknown('none'));
  });

  it('fills a block from a file that gives little at a time', async () => {
    const { wire, read } = await openHandles();
    const params = { handleId: 'h', path: 'file:///proc/self/smaps' };
    expect((await wire.request('fs/open', params)).result).toEqual({ handleId: 'h' });
    expect(await read('h', 0, 10_000)).toMatchObject({ eof: false });
  });

  it('keeps to the file that was opened', async () => {
    const { at, open, read } = await openHandles();
    writeFileSync(at('f'), 'old');
    await open('h', 'f');
    writeFileSync(at('g'), 'new');
    renameSync(at('g'), at('f'));
    expect(await read('h', 0, 10)).toEqual(block('old', true));
  });

  it.each([
    ['beyond what the kernel counts', 'f', 'read', 2 ** 63, refused('Invalid argument (os error 22)')],
    [
      'of a range that ends beyond it',
      'f',
      'read',
      2 ** 63 - 1024,
      refused('Invalid argument (os error 22)'),
    ],
    [
      'from a handle for writing',
      'f',
      'replace',
      0,
      { code: -32603, message: 'Bad file descriptor (os error 9)' },
    ],
  ])('that fails closes the handle: %s', async (_name, name, mode, offset, error) => {
    const { at, open, read, write } = await openHandles();
    writeFileSync(at(name), 'text');
    await open('h', name, mode);
    expect(await read('h', offset, 4096)).toMatchObject(error);
    expect(await read('h', 0, 1)).toMatchObject(unknown('h'));
    expect(await write('h', 0, 'x')).toMatchObject(unknown('h'));
  });
});

describe('writing', () => {
  it('creates, empties and follows links; gaps are zeros', async () => {
    const { at, open, write } = await openHandles();
    expect(await open('new', 'new', 'replace')).toEqual({ handleId: 'new' });
    expect(statSync(at('new')).mode & 0o777).toBe(0o666 & ~process.umask());
    expect(await write('new', 0, 'abc')).toEqual({});
    expect(await write('new', 5, 'f')).toEqual({});
    expect(await write('new', 1, 'B')).toEqual({});
    expect(readFileSync(at('new'), 'latin1')).toBe('aBc\0\0f');

    writeFileSync(at('full'), 'content');
    symlinkSync('full', at('link'));
    symlinkSync('made', at('dangling'));
    await open('link', 'link', 'replace');
    await open('dangling', 'dangling', 'replace');
    expect(statSync(at('full')).size).toBe(0);
    expect(existsSync(at('made'))).toBe(true);
  });

  it('takes blocks of 1 to the limit; a refused or failed write leaves the handle open', async () => {
    const { at, open, write, read } = await openHandles();
    await open('h', 'f', 'replace');
    for (const length of [0, MAX_FILE_BLOCK_BYTES + 1])
      expect(await write('h', 0, Buffer.alloc(length))).toMatchObject(lengthRefused('write'));
    for (const length of [1, MAX_FILE_BLOCK_BYTES - 1, MAX_FILE_BLOCK_BYTES]) {
      expect(await write('h', 0, Buffer.alloc(length))).toEqual({});
      expect(statSync(at('f')).size).toBe(length);
    }
    const range = refused('file write range exceeds the signed 64-bit file offset limit');
    expect(await write('h', 2 ** 63, 'x')).toMatchObject(range);
    expect(await write('none', 2 ** 63, 'x')).toMatchObject(range);
    // No position that a number holds exactly: Node would write to somewhere else.
    const tooLarge = { code: -32603, message: 'File too large (os error 27)' };
    for (const offset of [2 ** 53 - 1, 2 ** 53, 2 ** 63 - 1024])
      expect(await write('h', offset, 'x')).toMatchObject(tooLarge);
    expect(await write('h', 0, 'still open')).toEqual({});
    expect(statSync(at('f')).size).toBe(MAX_FILE_BLOCK_BYTES);

    await open('reader', 'f');
    expect(await write('reader', 0, 'x')).toMatchObject({
      code: -32603,
      message: 'Bad file descriptor (os error 9)',
    });
    expect(await read('reader', 0, 10)).toEqual(block('still open', false));
  });

  it('keeps the order of writes that were sent without waiting, and closes after the last', async () => {
    const { wire, at, read } = await openHandles();
    const writes = 200;
    wire.send({
      id: 'open',
      method: 'fs/open',
      params: { handleId: 'h', path: nativeToPathUri(at('f')), mode: 'replace' },
    });
    for (let index = 0; index < writes; index++) {
      const params = { handleId: 'h', offset: 0, chunk: btoa(String(index).padStart(4)) };
      wire.send({ id: `w${index}`, method: 'fs/writeBlock', params });
    }
    wire.send({ id: 'close', method: 'fs/close', params: { handleId: 'h' } });
    await wire.next(({ id }) => id === 'close', 'the close');
    const failed = wire.received.filter(({ error }) => error !== undefined);
    expect(failed).toEqual([]);
    expect(readFileSync(at('f'), 'latin1')).toBe(String(writes - 1).padStart(4));
    expect(await read('h', 0, 1)).toMatchObject(unknown('h'));
  });
});

describe('opening', () => {
  it('what is no regular file is refused, and without waiting for anybody', async () => {
    const { wire, at, open } = await openHandles();
    await mkdir(at('directory'));
    execFileSync('mkfifo', [at('fifo')]);
    const socket = createServer().listen(at('socket'));
    onTestFinished(() => void socket.close());
    const noDevice = { code: -32603, message: 'No such device or address (os error 6)' };
    expect(await open('h', 'directory')).toMatchObject(refused(`path \`${at('directory')}\` is not a file`));
    expect(await open('h', 'fifo')).toMatchObject(refused(`path \`${at('fifo')}\` is not a file`));
    expect(await open('h', 'fifo', 'replace')).toMatchObject(noDevice);
    expect(await open('h', 'socket')).toMatchObject(noDevice);
    expect(await open('h', 'directory', 'replace')).toMatchObject({
      code: -32603,
      message: 'Is a directory (os error 21)',
    });
    for (const mode of ['read', 'replace']) {
      const params = { handleId: 'h', path: 'file:///dev/null', mode };
      expect((await wire.request('fs/open', params)).error).toMatchObject(
        refused('path `/dev/null` is not a file'),
      );
    }
  });

  it('what cannot be opened leaves its id free', async () => {
    const { at, open } = await openHandles();
    const missing = { code: -32004, message: 'No such file or directory (os error 2)' };
    expect(await open('h', 'none')).toMatchObject(missing);
    expect(await open('h', 'none/f', 'replace')).toMatchObject(missing);
    symlinkSync('loop', at('loop'));
    expect(await open('h', 'loop')).toMatchObject({
      code: -32603,
      message: 'Symbolic link loop (os error 40)',
    });
    writeFileSync(at('f'), '');
    expect(await open('h', 'f/below')).toMatchObject({
      code: -32603,
      message: 'Not a directory (os error 20)',
    });
    expect(await open('h', 'f')).toEqual({ handleId: 'h' });
  });

  it('a URI with a slash at the end names the file', async () => {
    const { at, open } = await openHandles();
    writeFileSync(at('f'), '');
    expect(await open('h', 'f/')).toEqual({ handleId: 'h' });
  });

  it('a path of another kind of host is refused', async () => {
    const { wire } = await openHandles();
    const { error } = await wire.request('fs/open', { handleId: 'h', path: 'file://host/x' });
    expect(error).toMatchObject(refused("'file://host/x' is invalid on 'linux'"));
  });

  it('ids have at most 32 bytes, and an empty one is an id', async () => {
    const { at, open } = await openHandles();
    writeFileSync(at('f'), '');
    const tooLong = refused('file handle ID must not exceed 32 bytes');
    for (const length of [0, MAX_FILE_HANDLE_ID_BYTES - 1, MAX_FILE_HANDLE_ID_BYTES])
      expect(await open('x'.repeat(length), 'f')).toEqual({ handleId: 'x'.repeat(length) });
    expect(await open('x'.repeat(MAX_FILE_HANDLE_ID_BYTES + 1), 'f')).toMatchObject(tooLong);
    expect(await open('é'.repeat(16), 'f')).toEqual({ handleId: 'é'.repeat(16) });
    expect(await open('é'.repeat(17), 'f')).toMatchObject(tooLong);
  });

  it('an id that is taken is refused before the file is touched', async () => {
    const { at, open } = await openHandles();
    writeFileSync(at('f'), 'kept');
    await open('h', 'f');
    expect(await open('h', 'f', 'replace')).toMatchObject(refused('file handle `h` already exists'));
    expect(readFileSync(at('f'), 'utf8')).toBe('kept');
  });

  it('128 handles may be open, a close makes room', async () => {
    const { at, open, close } = await openHandles();
    writeFileSync(at('f'), '');
    for (let index = 0; index < MAX_OPEN_FILE_HANDLES; index++)
      expect(await open(`${index}`, 'f')).toEqual({ handleId: `${index}` });
    const tooMany = refused('at most 128 file handles may be open per connection');
    expect(await open('more', 'f')).toMatchObject(tooMany);
    expect(await open('more', 'new', 'replace')).toMatchObject(tooMany);
    expect(existsSync(at('new'))).toBe(false);
    expect(await close('0')).toEqual({});
    expect(await open('more', 'f')).toEqual({ handleId: 'more' });
    expect(await open('still more', 'f')).toMatchObject(tooMany);
  });
});

it('closing is always fine, and frees the id', async () => {
  const { at, open, close } = await openHandles();
  writeFileSync(at('f'), '');
  expect(await close('never')).toEqual({});
  await open('h', 'f');
  expect(await close('h')).toEqual({});
  expect(await close('h')).toEqual({});
  expect(await open('h', 'f')).toEqual({ handleId: 'h' });
});

it('handles belong to their connection', async () => {
  const directory = await makeTempDirectory();
  writeFileSync(join(directory, 'f'), '');
  const server = openServer();
  const first = await openSession(server);
  const second = await openSession(server);
  await first.request('fs/open', { handleId: 'h', path: nativeToPathUri(join(directory, 'f')) });
  const { error } = await second.request('fs/readBlock', { handleId: 'h', offset: 0, len: 1 });
  expect(error).toMatchObject(unknown('h'));
  await first.close();
  const resumed = await openSession(server, first.sessionId);
  const again = await resumed.request('fs/readBlock', { handleId: 'h', offset: 0, len: 1 });
  expect(again.error).toMatchObject(unknown('h'));
});
