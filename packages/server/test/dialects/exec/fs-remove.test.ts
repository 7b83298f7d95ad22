import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { makeDeepTree, openFileSession } from '../../support/files.js';

const MISSING = '-32004 No such file or directory (os error 2)';
const NOT_EMPTY = '-32603 Directory not empty (os error 39)';
const NO_DIRECTORY = '-32603 Not a directory (os error 20)';

async function openTree() {
  const session = await openFileSession();
  const { path } = session;
  mkdirSync(path('d/sub/deep'), { recursive: true });
  mkdirSync(path('empty'));
  mkdirSync(path('kept'));
  for (const name of ['f', 'd/f', 'd/sub/deep/f', 'kept/f']) writeFileSync(path(name), '');
  symlinkSync('kept', path('dlink'));
  symlinkSync('../kept', path('d/out'));
  symlinkSync('nowhere', path('broken'));
  execFileSync('mkfifo', [path('d/fifo')]);
  const remove = (name: string, params: object = {}) =>
    session.call('fs/remove', { path: session.uri(name), ...params });
  const isThere = (name: string) => lstatSync(path(name), { throwIfNoEntry: false }) !== undefined;
  return { ...session, remove, isThere };
}

it.each(['f', 'd', 'empty', 'dlink', 'broken', 'd/fifo', 'dlink/f'])('removes %s', async (name) => {
  const { remove, isThere } = await openTree();
  expect(await remove(name)).toEqual({});
  expect(isThere(name)).toBe(false);
});

it('removes links and not what they lead to', async () => {
  const { remove, path } = await openTree();
  for (const name of ['dlink', 'd']) await remove(name);
  expect(readdirSync(path('kept'))).toEqual(['f']);
});

it.each([
  ['missing', {}, {}],
  ['missing/x', {}, {}],
  ['missing', { force: false }, MISSING],
  ['missing', { recursive: false }, {}],
  ['f/x', {}, NO_DIRECTORY],
  ['d', { recursive: false }, NOT_EMPTY],
  ['empty', { recursive: false }, {}],
  ['dlink', { recursive: false }, {}],
  ['n'.repeat(256), {}, '-32603 Filename too long (os error 36)'],
])('%s %j: %j', async (name, params, answer) => {
  const { remove } = await openTree();
  expect(await remove(name, params)).toEqual(answer);
});

it.each([
  ['f', {}],
  ['empty', {}],
  ['d/fifo', {}],
  ['missing', {}],
  ['missing/x/y', {}],
  ['dlink', '-32600 path contains a symbolic link'],
  ['broken', '-32600 path contains a symbolic link'],
  ['dlink/f', NO_DIRECTORY],
  ['f/x', NO_DIRECTORY],
  ['d', NOT_EMPTY],
])('without following links, %s: %j', async (name, answer) => {
  const { remove, isThere } = await openTree();
  expect(await remove(name, { recursive: false, followSymlinks: false })).toEqual(answer);
  if (typeof answer === 'object') expect(isThere(name)).toBe(false);
});

it.each(['missing', 'missing/x'])('without following links and force, %s', async (name) => {
  const { remove } = await openTree();
  expect(await remove(name, { recursive: false, followSymlinks: false, force: false })).toBe(MISSING);
});

it('without following links, trees stay', async () => {
  const { remove, path } = await openTree();
  for (const name of ['d', 'f', 'missing'])
    expect(await remove(name, { followSymlinks: false })).toBe(
      '-32603 recursive no-follow removal is unsupported',
    );
  expect(existsSync(path('f'))).toBe(true);
});

it.each([
  [{}, '-32603 Resource busy (os error 16)'],
  [{ recursive: false }, '-32603 Resource busy (os error 16)'],
  [{ recursive: false, followSymlinks: false }, '-32600 path must name an entry'],
])('the root stays as it is, %j', async (params, error) => {
  const { remove } = await openTree();
  expect(await remove('', { path: 'file:///', ...params })).toBe(error);
});

it('removes trees that are deeper than a path may be long', async () => {
  const { remove, path } = await openTree();
  makeDeepTree(path('deep'));
  expect(await remove('deep')).toEqual({});
  expect(existsSync(path('deep'))).toBe(false);
});
