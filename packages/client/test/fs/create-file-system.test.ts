import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { describe, expect, it } from 'vitest';
import { CapabilityMissingError } from '../../src/errors.js';
import { FileSystemError } from '../../src/fs/file-system-error.js';
import { failureOf, openFiles } from '../support/files.js';

async function openTree(...options: Parameters<typeof openFiles>) {
  const files = await openFiles(...options);
  const { path } = files;
  mkdirSync(path('d/sub'), { recursive: true });
  writeFileSync(path('d/f'), 'hello');
  writeFileSync(path('d/sub/deep'), '');
  symlinkSync('f', path('d/link'));
  symlinkSync('nowhere', path('d/broken'));
  symlinkSync('d', path('dlink'));
  return files;
}

describe('readdir', () => {
  it('gives names, links that lead nowhere included', async () => {
    const { fs, path } = await openTree();
    expect(await fs.readdir(path('d'))).toEqual(['broken', 'f', 'link', 'sub']);
  });

  it('tells types as node does: a link is a link', async () => {
    const { fs, path } = await openTree();
    const entries = await fs.readdir(path('d'), { withFileTypes: true });
    expect(
      entries.map((entry) => [entry.name, entry.isFile(), entry.isDirectory(), entry.isSymbolicLink()]),
    ).toEqual([
      ['broken', false, false, true],
      ['f', true, false, false],
      ['link', false, false, true],
      ['sub', false, true, false],
    ]);
    expect(entries[0]?.parentPath).toBe(path('d'));
  });

  it('goes down with `recursive`, and not through links', async () => {
    const { fs, path, directory } = await openTree();
    const names = await fs.readdir(directory, { recursive: true });
    expect(names.sort()).toEqual(['d', 'd/broken', 'd/f', 'd/link', 'd/sub', 'd/sub/deep', 'dlink'].sort());
    const entries = await fs.readdir(directory, { recursive: true, withFileTypes: true });
    expect(entries.find(({ name }) => name === 'deep')?.parentPath).toBe(path('d/sub'));
  });

  it('without the capability, links are what they lead to', async () => {
    const { fs, path } = await openTree({ disabledCapabilities: ['fsListBroken'] });
    const entries = await fs.readdir(path('d'), { withFileTypes: true });
    expect(entries.map(({ name, type }) => `${name} ${type}`)).toEqual([
      'f file',
      'link file',
      'sub directory',
    ]);
  });
});

describe('walk', () => {
  it('goes level by level and tells what everything is', async () => {
    const { fs, directory, path } = await openTree();
    const found = [];
    for await (const { relativePath, type } of fs.walk(directory)) found.push(`${relativePath} ${type}`);
    expect(found).toEqual([
      'd directory',
      'dlink symlink',
      'd/broken symlink',
      'd/f file',
      'd/link symlink',
      'd/sub directory',
      'd/sub/deep file',
    ]);
    for await (const entry of fs.walk(path('d/sub')))
      expect(entry).toEqual({ path: path('d/sub/deep'), relativePath: 'deep', type: 'file' });
  });

  it.each([
    [0, 2],
    [1, 6],
    [2, 7],
    [3, 7],
  ])('to depth %i there are %i', async (maxDepth, count) => {
    const { fs, directory } = await openTree();
    let found = 0;
    for await (const _ of fs.walk(directory, { maxDepth })) found++;
    expect(found).toBe(count);
  });

  it('lists many directories in order', async () => {
    const { fs, directory, path } = await openFiles();
    const names = Array.from({ length: 30 }, (_, i) => `d${String(i).padStart(2, '0')}`);
    for (const name of names) {
      mkdirSync(path(name));
      writeFileSync(path(`${name}/f`), '');
    }
    const found = [];
    for await (const { relativePath } of fs.walk(directory)) found.push(relativePath);
    expect(found).toEqual([...names, ...names.map((name) => `${name}/f`)]);
  });

  it('ends with the reason of its signal', async () => {
    const { fs, directory } = await openTree();
    const walk = fs.walk(directory, { signal: AbortSignal.abort(new Error('enough')) });
    await expect(walk.next()).rejects.toThrow('enough');
  });
});

describe('stat and lstat', () => {
  it('tell what node tells', async () => {
    const { fs, path } = await openTree();
    chmodSync(path('d/f'), 0o640);
    const expected = statSync(path('d/f'));
    const stats = await fs.stat(path('d/link'));
    expect(stats).toMatchObject({
      size: 5,
      mode: expected.mode,
      mtimeMs: Math.floor(expected.mtimeMs),
      birthtimeMs: Math.floor(expected.birthtimeMs),
    });
    expect(stats.mtime).toEqual(new Date(Math.floor(expected.mtimeMs)));
    expect([stats.isFile(), stats.isDirectory(), stats.isSymbolicLink()]).toEqual([true, false, false]);
    expect((await fs.stat(path('dlink'))).isDirectory()).toBe(true);
    expect((await fs.stat(path('dlink'))).mode).toBe(statSync(path('d')).mode);
  });

  it('describe a link itself, wherever it leads', async () => {
    const { fs, path } = await openTree();
    for (const name of ['d/link', 'd/broken', 'dlink']) {
      const stats = await fs.lstat(path(name));
      expect(stats.isSymbolicLink()).toBe(true);
      expect(stats.size).toBe(lstatSync(path(name)).size);
      expect(stats.mode).toBe(lstatSync(path(name)).mode);
    }
    expect((await fs.lstat(path('d/f'))).isFile()).toBe(true);
  });

  it('tell what they can on a server that tells less, and nothing untrue', async () => {
    const { fs, path } = await openTree({ disabledCapabilities: ['fsLinks', 'fsFullMetadata'] });
    expect(await fs.stat(path('d/f'))).toMatchObject({ size: 5, mode: undefined, birthtimeMs: undefined });
    expect((await fs.lstat(path('d'))).isDirectory()).toBe(true);
    expect(await failureOf(fs.lstat(path('d/link')))).toBeInstanceOf(CapabilityMissingError);
  });

  it('access and exists', async () => {
    const { fs, path } = await openTree();
    await fs.access(path('d/f'));
    expect(await failureOf(fs.access(path('d/nothing')))).toMatchObject({ errno: 'ENOENT' });
    expect(await fs.exists(path('d/link'))).toBe(true);
    expect(await fs.exists(path('d/broken'))).toBe(false);
    expect(await fs.exists(path('d/f/below'))).toBe(false);
  });
});

describe('mkdir, rm, rmdir and unlink', () => {
  it('mkdir makes one directory, or all', async () => {
    const { fs, path } = await openTree();
    await fs.mkdir(path('new'));
    expect(await failureOf(fs.mkdir(path('new')))).toMatchObject({ errno: 'EEXIST' });
    expect(await failureOf(fs.mkdir(path('a/b')))).toMatchObject({ errno: 'ENOENT' });
    await fs.mkdir(path('a/b'), { recursive: true });
    await fs.mkdir(path('a/b'), { recursive: true });
    expect(statSync(path('a/b')).isDirectory()).toBe(true);
  });

  it('rm keeps directories unless told otherwise, as node does', async () => {
    const { fs, path } = await openTree();
    mkdirSync(path('empty'));
    expect(await failureOf(fs.rm(path('empty')))).toMatchObject({ errno: 'EISDIR', operation: 'rm' });
    expect(await failureOf(fs.rm(path('nothing')))).toMatchObject({ errno: 'ENOENT' });
    await fs.rm(path('nothing'), { force: true });
    await fs.rm(path('dlink'));
    await fs.rm(path('d/broken'));
    expect(existsSync(path('d/f'))).toBe(true);
    await fs.rm(path('d'), { recursive: true });
    expect(readdirSync(path())).toEqual(['empty']);
  });

  it('rmdir removes empty directories alone', async () => {
    const { fs, path } = await openTree();
    expect(await failureOf(fs.rmdir(path('d')))).toMatchObject({ errno: 'ENOTEMPTY' });
    expect(await failureOf(fs.rmdir(path('d/f')))).toMatchObject({ errno: 'ENOTDIR' });
    expect(await failureOf(fs.rmdir(path('dlink')))).toMatchObject({ errno: 'ENOTDIR' });
    mkdirSync(path('empty'));
    await fs.rmdir(path('empty'));
    expect(existsSync(path('empty'))).toBe(false);
  });

  it('unlink removes files and links alone', async () => {
    const { fs, path } = await openTree();
    mkdirSync(path('empty'));
    expect(await failureOf(fs.unlink(path('empty')))).toMatchObject({ errno: 'EISDIR' });
    await fs.unlink(path('dlink'));
    await fs.unlink(path('d/f'));
    expect(readdirSync(path('d'))).toEqual(['broken', 'link', 'sub']);
  });
});

describe('copies, links and modes', () => {
  it('copyFile follows a link, cp keeps it', async () => {
    const { fs, path } = await openTree();
    chmodSync(path('d/f'), 0o750);
    await fs.copyFile(path('d/link'), path('copied'));
    expect(lstatSync(path('copied')).isFile()).toBe(true);
    expect(statSync(path('copied')).mode & 0o777).toBe(0o750);
    await fs.cp(path('d/link'), path('link'));
    expect(readlinkSync(path('link'))).toBe('f');
  });

  it('cp copies trees with their links, also those that lead nowhere', async () => {
    const { fs, path } = await openTree();
    expect(await failureOf(fs.cp(path('d'), path('copy')))).toMatchObject({ errno: 'EISDIR' });
    await fs.cp(path('d'), path('copy'), { recursive: true });
    expect(readFileSync(path('copy/f'), 'utf8')).toBe('hello');
    expect(readlinkSync(path('copy/broken'))).toBe('nowhere');
    expect(existsSync(path('copy/sub/deep'))).toBe(true);
  });

  it('rename, chmod, symlink, readlink and realpath', async () => {
    const { fs, path } = await openTree();
    await fs.rename(path('d/f'), path('moved'));
    await fs.chmod(path('moved'), 0o4711);
    expect(statSync(path('moved')).mode & 0o7777).toBe(0o4711);
    await fs.chmod(path('moved'), (await fs.stat(path('d'))).mode ?? 0);
    expect(statSync(path('moved')).mode & 0o7777).toBe(statSync(path('d')).mode & 0o7777);
    await fs.symlink('moved', path('new'));
    expect(await fs.readlink(path('new'))).toBe('moved');
    expect(await fs.realpath(path('new'))).toBe(path('moved'));
    expect(await failureOf(fs.readlink(path('moved')))).toMatchObject({ errno: 'EINVAL' });
    expect(await failureOf(fs.symlink('x', path('new')))).toMatchObject({ errno: 'EEXIST' });
  });

  it.each([
    ['fsRename', 'rename'],
    ['fsSetMode', 'chmod'],
    ['fsLinks', 'symlink'],
    ['fsLinks', 'readlink'],
    ['fsWatch', 'watch'],
  ] as const)('without %s there is no %s', async (capability, operation) => {
    const { fs, path } = await openFiles({ disabledCapabilities: [capability] });
    const attempts = {
      rename: () => fs.rename(path('a'), path('b')),
      chmod: () => fs.chmod(path('a'), 0o600),
      symlink: () => fs.symlink('a', path('b')),
      readlink: () => fs.readlink(path('a')),
      watch: () => fs.watch(path()).next(),
    };
    expect(await failureOf(attempts[operation]())).toMatchObject({ code: 'capability_missing', capability });
  });
});

it('errors tell errno, operation, path and the code of the wire', async () => {
  const { fs, path } = await openTree();
  const error = await failureOf(fs.readFile(path('missing')));
  expect(error).toBeInstanceOf(FileSystemError);
  expect(error).toMatchObject({
    code: 'rejected',
    errno: 'ENOENT',
    rpcCode: -32004,
    operation: 'readFile',
    path: path('missing'),
    message: `ENOENT: No such file or directory (os error 2), readFile '${path('missing')}'`,
  });
  expect(await failureOf(fs.readdir(path('d/f')))).toMatchObject({ errno: 'ENOTDIR', rpcCode: -32603 });
  expect(await failureOf(fs.writeFile(path('d'), ''))).toMatchObject({ errno: 'EISDIR' });
  expect(await failureOf(fs.stat(`${path('d')}/${'x'.repeat(300)}`))).toMatchObject({
    errno: 'ENAMETOOLONG',
  });
  expect(await failureOf(fs.stat('/tmp/a\0b'))).toMatchObject({ errno: 'EINVAL' });
});

it('refuses options that it does not have, and relative paths', async () => {
  const { fs, path } = await openFiles();
  const unknown = { mode: 0o700 } as object;
  for (const attempt of [
    fs.mkdir(path('x'), unknown),
    fs.rm(path('x'), { maxRetries: 3 } as object),
    fs.cp(path('x'), path('y'), { filter: () => true } as object),
    fs.readdir('relative'),
    fs.chmod(path('x'), -1),
  ]) {
    expect(await failureOf(attempt)).toMatchObject({ code: 'usage' });
  }
  expect(existsSync(path('x'))).toBe(false);
});

it('takes paths as bytes and URLs, names that are no UTF-8 included', async () => {
  const { fs, directory, path } = await openFiles();
  const name = Buffer.concat([Buffer.from(`${directory}/`), Buffer.of(0xff, 0x61)]);
  await fs.writeFile(name, 'bytes');
  expect(readFileSync(name, 'utf8')).toBe('bytes');
  expect(await fs.readFile(name, 'utf8')).toBe('bytes');
  expect(await fs.readdir(directory)).toEqual(['\ufffda']);
  await fs.writeFile(new URL(`file://${path('u%20v')}`), 'url');
  expect(readFileSync(path('u v'), 'utf8')).toBe('url');
});

it('its functions need no `this`', async () => {
  const { fs, path } = await openFiles();
  const { writeFile, readFile } = fs;
  await writeFile(path('f'), 'x');
  expect(await readFile(path('f'), { encoding: 'utf8' })).toBe('x');
});
