import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { nativeToPathUri } from '@exec-server/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openFileSession } from '../../support/files.js';

const base64 = (text: string) => Buffer.from(text).toString('base64');

async function openTree() {
  const session = await openFileSession();
  const { path } = session;
  mkdirSync(path('d'));
  writeFileSync(path('d/a'), 'a longer content than what is written');
  symlinkSync('a', path('d/link'));
  symlinkSync('d', path('dlink'));
  symlinkSync('new', path('d/broken'));
  symlinkSync('loop', path('loop'));
  execFileSync('mkfifo', [path('fifo')]);
  const write = (name: string, params: object = {}) =>
    session.call('fs/writeFile', { path: session.uri(name), dataBase64: base64('new'), ...params });
  const content = (name: string) => readFileSync(path(name), 'utf8');
  return { ...session, write, content };
}

it('any bytes can be a name', async () => {
  const { directory, call } = await openFileSession();
  const byte = fc.integer({ min: 1, max: 255 }).filter((value) => value !== 0x2f);
  const name = fc
    .array(byte, { minLength: 1, maxLength: 255 })
    .map((bytes) => Buffer.from(bytes))
    .filter((bytes) => !['.', '..'].includes(bytes.toString('latin1')));
  await fc.assert(
    fc.asyncProperty(name, async (bytes) => {
      const native = Buffer.concat([Buffer.from(`${directory}/`), bytes]);
      const path = nativeToPathUri(native);
      expect(await call('fs/writeFile', { path, dataBase64: base64('x') })).toEqual({});
      expect(readdirSync(directory, { encoding: 'buffer' })).toEqual([bytes]);
      expect(await call('fs/readFile', { path })).toEqual({ dataBase64: base64('x') });
      expect(await call('fs/canonicalize', { path })).toEqual({ path });
      expect(await call('fs/remove', { path, recursive: false, followSymlinks: false })).toEqual({});
      expect(existsSync(native)).toBe(false);
    }),
    { numRuns: 100 },
  );
});

it('any content comes back', async () => {
  const { uri, call } = await openFileSession();
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 40_000 }), fc.boolean(), async (content, atomic) => {
      const dataBase64 = Buffer.from(content).toString('base64');
      expect(await call('fs/writeFile', { path: uri('f'), dataBase64, atomic })).toEqual({});
      expect(await call('fs/readFile', { path: uri('f') })).toEqual({ dataBase64 });
    }),
    { numRuns: 60 },
  );
});

it.each([
  [{}, '-32602 missing field `dataBase64`'],
  [
    { dataBase64: '!!' },
    '-32600 fs/writeFile requires valid base64 dataBase64: Invalid symbol 33, offset 0.',
  ],
  [{ dataBase64: 'YQ' }, '-32600 fs/writeFile requires valid base64 dataBase64: Invalid padding'],
])('%j: %s', async (params, error) => {
  const { uri, call } = await openFileSession();
  expect(await call('fs/writeFile', { path: uri('f'), ...params })).toBe(error);
});

describe.each([
  ['in place', {}],
  ['in one step', { atomic: true }],
])('%s', (_name, mode) => {
  it('replaces and creates, through links', async () => {
    const { write, content, path } = await openTree();
    for (const name of ['d/a', 'd/created']) {
      expect(await write(name, mode)).toEqual({});
      expect(content(name)).toBe('new');
    }
    writeFileSync(path('d/a'), 'old');
    expect(await write('d/link', mode)).toEqual({});
    expect(await write('d/broken', mode)).toEqual({});
    expect([content('d/a'), content('d/new')]).toEqual(['new', 'new']);
    expect([readlinkSync(path('d/link')), readlinkSync(path('d/broken'))]).toEqual(['a', 'new']);
    expect(readdirSync(path('d')).sort()).toEqual(['a', 'broken', 'created', 'link', 'new']);
  });

  it('new files get the usual mode, others keep theirs', async () => {
    const { write, path } = await openTree();
    await write('f', mode);
    expect(statSync(path('f')).mode & 0o7777).toBe(0o666 & ~process.umask());
    chmodSync(path('f'), 0o4751);
    await write('f', { ...mode, dataBase64: '' });
    expect(statSync(path('f')).mode & 0o777).toBe(0o751);
  });

  it.each([
    ['d', '-32603 Is a directory (os error 21)'],
    ['', '-32603 Is a directory (os error 21)'],
    ['missing/f', '-32004 No such file or directory (os error 2)'],
    ['d/a/f', '-32603 Not a directory (os error 20)'],
    ['loop', '-32603 Symbolic link loop (os error 40)'],
    ['n'.repeat(256), '-32603 Filename too long (os error 36)'],
  ])('%s: %s', async (name, error) => {
    const { write } = await openTree();
    expect(await write(name, mode)).toBe(error);
  });

  it.each([
    ['d/a', {}],
    ['created', {}],
    ['d/link', '-32603 Symbolic link loop (os error 40)'],
    ['d/broken', '-32603 Symbolic link loop (os error 40)'],
    ['dlink/f', '-32603 Not a directory (os error 20)'],
    ['d', '-32603 Is a directory (os error 21)'],
    ['missing/f', '-32004 No such file or directory (os error 2)'],
  ])('without following links, %s: %j', async (name, answer) => {
    const { write, path, content } = await openTree();
    expect(await write(name, { ...mode, followSymlinks: false })).toEqual(answer);
    if (typeof answer === 'object') expect(content(name)).toBe('new');
    else expect(readdirSync(path('d')).sort()).toEqual(['a', 'broken', 'link']);
  });

  it('without following links, the root is no entry', async () => {
    const { write } = await openTree();
    const params = { path: 'file:///', followSymlinks: false, ...mode };
    expect(await write('', params)).toBe('-32600 path must name an entry');
  });
});

describe('in place', () => {
  it('does not wait for the reader of a FIFO', async () => {
    const { write } = await openTree();
    for (const followSymlinks of [true, false])
      expect(await write('fifo', { followSymlinks })).toBe('-32603 No such device or address (os error 6)');
  });

  it('writes to devices only where links are followed', async () => {
    const { write } = await openTree();
    const path = 'file:///dev/null';
    expect(await write('', { path })).toEqual({});
    expect(await write('', { path, followSymlinks: false })).toBe('-32600 path is not a regular file');
  });

  it.each([0, 1, 100])('leaves nothing of a longer file behind %i bytes', async (bytes) => {
    const { path, write } = await openTree();
    writeFileSync(path('long'), Buffer.alloc(100_000, 'o'));
    const content = 'n'.repeat(bytes);
    expect(await write('long', { dataBase64: base64(content) })).toEqual({});
    expect(readFileSync(path('long'), 'utf8')).toBe(content);
  });

  it('a file that is empty and stays so was modified all the same', async () => {
    const { path, write } = await openTree();
    writeFileSync(path('empty'), '');
    utimesSync(path('empty'), 1, 1);
    expect(await write('empty', { dataBase64: '' })).toEqual({});
    expect(statSync(path('empty')).mtimeMs).toBeGreaterThan(1000);
  });

  it('a device that is full says so', async () => {
    const { call } = await openTree();
    const params = { path: 'file:///dev/full', dataBase64: base64('new') };
    expect(await call('fs/writeFile', params)).toBe('-32603 No space left on device (os error 28)');
  });

  it('keeps the file behind its hard links', async () => {
    const { write, path, content } = await openTree();
    linkSync(path('d/a'), path('hard'));
    await write('d/a');
    expect(content('hard')).toBe('new');
  });
});

describe('in one step', () => {
  it('makes a new file of it, with all of its mode', async () => {
    const { write, path } = await openTree();
    chmodSync(path('d/a'), 0o4751);
    const before = lstatSync(path('d/a')).ino;
    await write('d/link', { atomic: true });
    expect(lstatSync(path('d/a')).ino).not.toBe(before);
    expect(lstatSync(path('d/a')).mode & 0o7777).toBe(0o4751);
  });

  it('goes through links the way the system does', async () => {
    const { write, path, content } = await openTree();
    mkdirSync(path('far/deep'), { recursive: true });
    symlinkSync('far/deep', path('deep'));
    // `..` is the parent of where the link leads, not of the link.
    symlinkSync('deep/../target', path('first'));
    symlinkSync(path('first'), path('second'));
    await write('second', { atomic: true });
    expect(content('far/target')).toBe('new');
  });

  it('refuses what is no regular file', async () => {
    const { write } = await openTree();
    expect(await write('fifo', { atomic: true })).toBe('-32600 path is not a regular file');
  });
});
