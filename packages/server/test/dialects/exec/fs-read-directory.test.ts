import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import type { FsReadDirectoryResult } from '@exec-server/protocol';
import { expect, it } from 'vitest';
import { type FileSession, openFileSession } from '../../support/files.js';

/** Entries by name; the order is the file system's. */
async function list({ call, uri }: FileSession, name: string, params: object = {}) {
  const { entries } = (await call('fs/readDirectory', {
    path: uri(name),
    ...params,
  })) as FsReadDirectoryResult;
  return entries.toSorted((a, b) => (a.fileName < b.fileName ? -1 : 1));
}

async function openTree() {
  const session = await openFileSession();
  const { path } = session;
  mkdirSync(path('d/dir'), { recursive: true });
  writeFileSync(path('d/file'), '');
  symlinkSync('file', path('d/flink'));
  symlinkSync('dir', path('d/dlink'));
  symlinkSync('nowhere', path('d/broken'));
  symlinkSync('loop', path('d/loop'));
  execFileSync('mkfifo', [path('d/fifo')]);
  writeFileSync(Buffer.concat([Buffer.from(path('d/bad')), Buffer.from([0xff])]), '');
  symlinkSync('d', path('dlink'));
  return session;
}

const DIRECTORY = { isDirectory: true, isFile: false };
const FILE = { isDirectory: false, isFile: true };
const OTHER = { isDirectory: false, isFile: false };

it.each(['d', 'dlink'])('lists %s: links as what they lead to, broken ones not at all', async (name) => {
  expect(await list(await openTree(), name)).toEqual([
    { fileName: 'bad\uFFFD', ...FILE },
    { fileName: 'dir', ...DIRECTORY },
    { fileName: 'dlink', ...DIRECTORY },
    { fileName: 'fifo', ...OTHER },
    { fileName: 'file', ...FILE },
    { fileName: 'flink', ...FILE },
  ]);
});

it('lists broken links when asked to, and says what is a link', async () => {
  expect(await list(await openTree(), 'd', { includeBroken: true })).toEqual([
    { fileName: 'bad\uFFFD', ...FILE },
    { fileName: 'broken', ...OTHER, isSymlink: true },
    { fileName: 'dir', ...DIRECTORY },
    { fileName: 'dlink', ...DIRECTORY, isSymlink: true },
    { fileName: 'fifo', ...OTHER },
    { fileName: 'file', ...FILE },
    { fileName: 'flink', ...FILE, isSymlink: true },
    { fileName: 'loop', ...OTHER, isSymlink: true },
  ]);
});

it.each([
  ['d/file', '-32603 Not a directory (os error 20)'],
  ['d/fifo', '-32603 Not a directory (os error 20)'],
  ['d/broken', '-32004 No such file or directory (os error 2)'],
  ['d/loop', '-32603 Symbolic link loop (os error 40)'],
])('%s: %s', async (name, error) => {
  const { call, uri } = await openTree();
  expect(await call('fs/readDirectory', { path: uri(name) })).toBe(error);
});

it('lists up to 50,000 entries; broken links count only when they are listed', async () => {
  const session = await openFileSession();
  const { path, uri, call } = session;
  const count = async (params: object = {}) => (await list(session, 'd', params)).length;
  mkdirSync(path('d'));
  for (let i = 1; i < 50_000; i++) writeFileSync(path(`d/${i}`), '');
  expect(await count()).toBe(49_999);
  symlinkSync('nowhere', path('d/broken'));
  expect(await count({ includeBroken: true })).toBe(50_000);
  writeFileSync(path('d/50000'), '');
  expect(await count()).toBe(50_000);
  const tooMany = '-32603 fs/readDirectory returned 50001 entries; limit is 50000';
  expect(await call('fs/readDirectory', { path: uri('d'), includeBroken: true })).toBe(tooMany);
  unlinkSync(path('d/broken'));
  writeFileSync(path('d/50001'), '');
  expect(await call('fs/readDirectory', { path: uri('d') })).toBe(tooMany);
});
