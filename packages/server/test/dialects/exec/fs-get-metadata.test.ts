import { execFileSync } from 'node:child_process';
import { chmodSync, lstatSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { openFileSession } from '../../support/files.js';

async function openTree() {
  const session = await openFileSession();
  const { path } = session;
  mkdirSync(path('d'));
  writeFileSync(path('f'), 'hello');
  symlinkSync('f', path('link'));
  symlinkSync('d', path('dlink'));
  symlinkSync('nowhere', path('broken'));
  symlinkSync('loop', path('loop'));
  execFileSync('mkfifo', [path('fifo')]);
  const look = (name: string, params: object = {}) =>
    session.call('fs/getMetadata', { path: session.uri(name), ...params });
  return { ...session, look };
}

const DIRECTORY = { isDirectory: true, isFile: false, isSymlink: false };
const FILE = { isDirectory: false, isFile: true, isSymlink: false, size: 5 };
const OTHER = { isDirectory: false, isFile: false, isSymlink: false, size: 0 };

it.each([
  ['d', DIRECTORY],
  ['f', FILE],
  ['link', { ...FILE, isSymlink: true }],
  ['dlink', { ...DIRECTORY, isSymlink: true }],
  ['fifo', OTHER],
])('%s: %j', async (name, expected) => {
  const { look, path } = await openTree();
  const modifiedAtMs = Math.floor(statSync(path(name)).mtimeMs);
  expect(await look(name)).toMatchObject({ ...expected, createdAtMs: 0, modifiedAtMs });
});

it.each([
  ['missing', '-32004 No such file or directory (os error 2)'],
  ['broken', '-32004 No such file or directory (os error 2)'],
  ['f/x', '-32603 Not a directory (os error 20)'],
  ['loop', '-32603 Symbolic link loop (os error 40)'],
])('%s: %s', async (name, error) => {
  const { look } = await openTree();
  expect(await look(name)).toBe(error);
});

it.each([
  ['d', DIRECTORY],
  ['f', FILE],
  ['fifo', OTHER],
])('without following links, %s: %j', async (name, expected) => {
  const { look, path } = await openTree();
  const createdAtMs = Math.floor(lstatSync(path(name)).birthtimeMs);
  expect(await look(name, { followSymlinks: false })).toMatchObject({ ...expected, createdAtMs });
});

it.each([
  ['link', '-32600 path contains a symbolic link'],
  ['broken', '-32600 path contains a symbolic link'],
  ['dlink/x', '-32603 Not a directory (os error 20)'],
  ['f/x', '-32603 Not a directory (os error 20)'],
  ['missing', '-32004 No such file or directory (os error 2)'],
])('without following links, %s: %s', async (name, error) => {
  const { look } = await openTree();
  expect(await look(name, { followSymlinks: false })).toBe(error);
});

it('without following links, the root is a directory like others', async () => {
  const { look } = await openTree();
  expect(await look('', { path: 'file:///', followSymlinks: false })).toMatchObject(DIRECTORY);
});

it.each([
  ['1970-01-01T00:00:01.9999999Z', 1999, 1999],
  ['2026-11-15T21:47:03.272999999Z', 1_794_779_223_272, 1_794_779_223_272],
  ['1969-12-31T23:59:59.9995Z', 0, -1],
  ['1960-01-01T00:00:00.5Z', 0, -315_619_199_500],
])('%s is %i, or %i without following links', async (time, followed, own) => {
  const { look, path } = await openTree();
  execFileSync('touch', ['-d', time, path('f')]);
  expect(await look('f')).toMatchObject({ modifiedAtMs: followed });
  expect(await look('f', { followSymlinks: false })).toMatchObject({ modifiedAtMs: own });
});

it.each([
  ['link', { isDirectory: false, isFile: false, isSymlink: true, size: 1 }],
  ['dlink', { isDirectory: false, isFile: false, isSymlink: true, size: 1 }],
  ['broken', { isDirectory: false, isFile: false, isSymlink: true, size: 7 }],
  ['loop', { isSymlink: true }],
  ['f', FILE],
  ['d', DIRECTORY],
])('a link can be described itself, %s: %j', async (name, expected) => {
  const { look } = await openTree();
  expect(await look(name, { describeLink: true })).toMatchObject(expected);
  expect(await look(name, { describeLink: true, followSymlinks: false })).toMatchObject(expected);
});

it('describing a link, those on the way to it are followed, or refused', async () => {
  const { look, path } = await openTree();
  symlinkSync('x', path('d/inner'));
  expect(await look('dlink/inner', { describeLink: true })).toMatchObject({ isSymlink: true });
  expect(await look('dlink/inner', { describeLink: true, followSymlinks: false })).toBe(
    '-32603 Not a directory (os error 20)',
  );
});

it.each([0, 0o600, 0o4755, 0o7777])('tells mode %i and the time of creation when asked to', async (mode) => {
  const { look, path } = await openTree();
  chmodSync(path('f'), mode);
  const createdAtMs = Math.floor(statSync(path('f')).birthtimeMs);
  expect(await look('f', { full: true })).toMatchObject({ ...FILE, mode, createdAtMs });
  expect(await look('link', { full: true })).toMatchObject({ mode, createdAtMs, isSymlink: true });
  expect(await look('f', { full: true, followSymlinks: false })).toMatchObject({ mode, createdAtMs });
  expect(await look('f')).not.toHaveProperty('mode');
});
