import { lstatSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { openFileSession } from '../../support/files.js';

const EXISTS = '-32603 File exists (os error 17)';
const NO_DIRECTORY = '-32603 Not a directory (os error 20)';
const MISSING = '-32004 No such file or directory (os error 2)';

async function openTree() {
  const session = await openFileSession();
  const { path } = session;
  mkdirSync(path('d'));
  writeFileSync(path('f'), '');
  symlinkSync('d', path('dlink'));
  symlinkSync('nowhere', path('broken'));
  symlinkSync('loop', path('loop'));
  const create = (name: string, params: object = {}) =>
    session.call('fs/createDirectory', { path: session.uri(name), ...params });
  return { ...session, create };
}

it.each([
  ['a/b/c', {}],
  ['d', {}],
  ['dlink', {}],
  ['dlink/x/y', {}],
  ['', {}],
  ['f', EXISTS],
  ['f/x', NO_DIRECTORY],
  ['broken', EXISTS],
  ['broken/x', EXISTS],
  ['loop/x', '-32603 Symbolic link loop (os error 40)'],
])('with parents, %s: %j', async (name, answer) => {
  const { create, path } = await openTree();
  expect(await create(name)).toEqual(answer);
  if (typeof answer === 'object') expect(statSync(path(name)).isDirectory()).toBe(true);
});

it.each([
  ['new', {}],
  ['d', EXISTS],
  ['a/b', MISSING],
  ['dlink', EXISTS],
])('alone, %s: %j', async (name, answer) => {
  const { create } = await openTree();
  expect(await create(name, { recursive: false })).toEqual(answer);
});

it.each([
  ['a/b/c', {}],
  ['d', {}],
  ['f', NO_DIRECTORY],
  ['f/x', NO_DIRECTORY],
  ['dlink', NO_DIRECTORY],
  ['dlink/x', NO_DIRECTORY],
  ['broken', NO_DIRECTORY],
])('with parents and without following links, %s: %j', async (name, answer) => {
  const { create, path } = await openTree();
  expect(await create(name, { followSymlinks: false })).toEqual(answer);
  if (typeof answer === 'object') expect(lstatSync(path(name)).isDirectory()).toBe(true);
});

it.each([
  ['new', {}],
  ['d', EXISTS],
  ['f', EXISTS],
  ['dlink', EXISTS],
  ['dlink/x', NO_DIRECTORY],
  ['a/b', MISSING],
])('alone and without following links, %s: %j', async (name, answer) => {
  const { create } = await openTree();
  expect(await create(name, { recursive: false, followSymlinks: false })).toEqual(answer);
});

it.each([
  [{}, {}],
  [{ recursive: false }, EXISTS],
  [{ followSymlinks: false }, {}],
  [{ recursive: false, followSymlinks: false }, '-32603 directory already exists'],
])('the root, %j: %j', async (params, answer) => {
  const { create } = await openTree();
  expect(await create('', { path: 'file:///', ...params })).toEqual(answer);
});

it.each([true, false])(
  'several may create the same directories at once, following links: %s',
  async (follow) => {
    const { create, path } = await openTree();
    const answers = await Promise.all(
      Array.from({ length: 16 }, () => create('a/b/c/d/e', { followSymlinks: follow })),
    );
    expect(answers).toEqual(answers.map(() => ({})));
    expect(lstatSync(path('a/b/c/d/e')).isDirectory()).toBe(true);
  },
);
