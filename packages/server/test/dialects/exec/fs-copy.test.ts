import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { describe, expect, it } from 'vitest';
import { openFileSession } from '../../support/files.js';

const EXISTS = '-32603 File exists (os error 17)';
const INTO_ITSELF = '-32600 fs/copy cannot copy a directory to itself or one of its descendants';
const UNSUPPORTED = '-32600 fs/copy only supports regular files, directories, and symlinks';

async function openTree() {
  const session = await openFileSession();
  const { path, uri, call } = session;
  mkdirSync(path('d/sub'), { recursive: true });
  mkdirSync(path('empty'));
  writeFileSync(path('f'), 'file');
  writeFileSync(path('d/f'), 'in d');
  writeFileSync(path('d/sub/g'), 'in sub');
  chmodSync(path('f'), 0o751);
  chmodSync(path('d/sub'), 0o700);
  symlinkSync('f', path('link'));
  symlinkSync('d', path('dlink'));
  symlinkSync('nowhere', path('broken'));
  execFileSync('mkfifo', [path('fifo'), path('d/fifo')]);
  const copy = (source: string, destination: string, recursive = false) =>
    call('fs/copy', { sourcePath: uri(source), destinationPath: uri(destination), recursive });
  const content = (name: string) => readFileSync(path(name), 'utf8');
  const mode = (name: string) => lstatSync(path(name)).mode & 0o7777;
  return { ...session, copy, content, mode };
}

describe('a file', () => {
  it.each([false, true])('is copied with its mode, recursive: %s', async (recursive) => {
    const { copy, content, mode, path } = await openTree();
    expect(await copy('f', 'new', recursive)).toEqual({});
    expect([content('new'), mode('new')]).toEqual(['file', 0o751]);
    chmodSync(path('f'), 0o4711);
    writeFileSync(path('f'), 'other');
    chmodSync(path('f'), 0o4711);
    expect(await copy('f', 'new')).toEqual({});
    expect([content('new'), mode('new')]).toEqual(['other', 0o4711]);
  });

  it('replaces longer content', async () => {
    const { copy, content, path } = await openTree();
    writeFileSync(path('long'), 'much longer than the other');
    await copy('f', 'long');
    expect(content('long')).toBe('file');
  });

  it('is copied through links at the destination', async () => {
    const { copy, content, path } = await openTree();
    symlinkSync('d/f', path('to'));
    await copy('f', 'to');
    await copy('f', 'broken');
    expect([content('d/f'), content('nowhere')]).toEqual(['file', 'file']);
    expect(readlinkSync(path('to'))).toBe('d/f');
  });

  it('of several blocks is copied whole', async () => {
    const { copy, path } = await openTree();
    const large = Buffer.alloc(3 * 1024 * 1024 + 1, 'content ');
    writeFileSync(path('large'), large);
    await copy('large', 'copy');
    expect(readFileSync(path('copy')).equals(large)).toBe(true);
  });

  it('stays as it is when it is copied onto itself, by whatever name', async () => {
    const { copy, content, mode, path } = await openTree();
    linkSync(path('f'), path('hard'));
    for (const name of ['f', 'link', 'hard', 'd/../f']) expect(await copy('f', name)).toEqual({});
    expect([content('f'), mode('f')]).toEqual(['file', 0o751]);
  });

  it.each([
    ['f', 'empty', '-32603 Is a directory (os error 21)'],
    ['f', 'missing/x', '-32004 No such file or directory (os error 2)'],
    ['missing', 'x', '-32004 No such file or directory (os error 2)'],
    ['f/x', 'x', '-32603 Not a directory (os error 20)'],
    ['fifo', 'x', UNSUPPORTED],
    ['f', 'fifo', '-32603 No such device or address (os error 6)'],
  ])('%s to %s: %s', async (source, destination, error) => {
    const { copy } = await openTree();
    expect(await copy(source, destination)).toBe(error);
  });

  it('a device is none', async () => {
    const { call, uri } = await openTree();
    const params = { sourcePath: 'file:///dev/null', destinationPath: uri('x'), recursive: false };
    expect(await call('fs/copy', params)).toBe(UNSUPPORTED);
  });
});

describe('a link', () => {
  it.each([
    ['link', 'f'],
    ['dlink', 'd'],
    ['broken', 'nowhere'],
  ])('%s is copied as such', async (name, target) => {
    const { copy, path } = await openTree();
    expect(await copy(name, 'copy')).toEqual({});
    expect(readlinkSync(path('copy'))).toBe(target);
    expect(await copy(name, 'copy')).toBe(EXISTS);
  });
});

describe('a directory', () => {
  it('needs recursive', async () => {
    const { copy } = await openTree();
    expect(await copy('d', 'x')).toBe(
      '-32600 fs/copy requires recursive: true when sourcePath is a directory',
    );
  });

  it('is copied with its links as such and without special files; parents are created', async () => {
    const { copy, content, mode, path } = await openTree();
    symlinkSync('f', path('d/link'));
    symlinkSync('sub', path('d/dlink'));
    symlinkSync('nowhere', path('d/broken'));
    expect(await copy('d', 'new/parents/copy', true)).toEqual({});
    expect(readdirSync(path('new/parents/copy')).sort()).toEqual(['broken', 'dlink', 'f', 'link', 'sub']);
    expect(readlinkSync(path('new/parents/copy/dlink'))).toBe('sub');
    expect(content('new/parents/copy/sub/g')).toBe('in sub');
    // Only files bring their mode along.
    expect(mode('new/parents/copy/sub')).toBe(0o777 & ~process.umask());
    expect(await copy('d', 'new/parents/copy', true)).toBe(EXISTS);
  });

  it('is merged into another', async () => {
    const { copy, content, path } = await openTree();
    mkdirSync(path('other/sub'), { recursive: true });
    writeFileSync(path('other/f'), 'overwritten');
    writeFileSync(path('other/kept'), 'kept');
    expect(await copy('d', 'other', true)).toEqual({});
    expect(readdirSync(path('other')).sort()).toEqual(['f', 'kept', 'sub']);
    expect([content('other/f'), content('other/sub/g')]).toEqual(['in d', 'in sub']);
  });

  it('is merged into what a link leads to', async () => {
    const { copy, content, path } = await openTree();
    symlinkSync('empty', path('to'));
    expect(await copy('d', 'to', true)).toEqual({});
    expect(content('empty/sub/g')).toBe('in sub');
  });

  it.each([
    ['d', 'd', INTO_ITSELF],
    ['d', 'd/sub/new/x', INTO_ITSELF],
    ['d', 'dlink/new', INTO_ITSELF],
    ['d', 'empty/../d', INTO_ITSELF],
    ['d', 'f', EXISTS],
    ['d', 'broken', EXISTS],
    ['d', 'f/x', '-32603 Not a directory (os error 20)'],
    ['d/sub', 'd', {}],
    ['d', 'dd', {}],
  ])('%s to %s: %j', async (source, destination, answer) => {
    const { copy } = await openTree();
    expect(await copy(source, destination, true)).toEqual(answer);
  });

  it('the root can only be copied into itself', async () => {
    const { call, uri } = await openTree();
    const params = { sourcePath: 'file:///', destinationPath: uri('x'), recursive: true };
    expect(await call('fs/copy', params)).toBe(INTO_ITSELF);
  });

  it.each([
    ['a directory where a file is to go', 'f', '-32603 Is a directory (os error 21)'],
    ['a file where a directory is to go', 'sub', EXISTS],
  ])('stops at %s', async (_name, name, error) => {
    const { copy, path } = await openTree();
    mkdirSync(path('other'));
    if (name === 'f') mkdirSync(path('other/f'));
    else writeFileSync(path('other/sub'), '');
    expect(await copy('d', 'other', true)).toBe(error);
  });
});
