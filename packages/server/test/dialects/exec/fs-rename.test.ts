import { mkdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { openFileSession } from '../../support/files.js';

async function openTree() {
  const session = await openFileSession();
  const { path, uri, call } = session;
  mkdirSync(path('d'));
  mkdirSync(path('empty'));
  writeFileSync(path('f'), 'file');
  writeFileSync(path('d/g'), 'in d');
  symlinkSync('f', path('link'));
  const rename = (source: string, destination: string) =>
    call('fs/rename', { sourcePath: uri(source), destinationPath: uri(destination) });
  const content = (name: string) => readFileSync(path(name), 'utf8');
  return { ...session, rename, content };
}

it('renames files over others, directories over empty ones, links themselves', async () => {
  const { rename, content, path } = await openTree();
  expect(await rename('f', 'd/g')).toEqual({});
  expect(await rename('d', 'empty')).toEqual({});
  expect(content('empty/g')).toBe('file');
  expect(await rename('link', 'other')).toEqual({});
  expect(readlinkSync(path('other'))).toBe('f');
});

it.each([
  ['missing', 'x', '-32004 No such file or directory (os error 2)'],
  ['f', 'missing/x', '-32004 No such file or directory (os error 2)'],
  ['f', 'd', '-32603 Is a directory (os error 21)'],
  ['d', 'f', '-32603 Not a directory (os error 20)'],
  ['empty', 'd', '-32603 Directory not empty (os error 39)'],
  ['d', 'd/x', '-32600 Invalid argument (os error 22)'],
])('%s to %s: %s', async (source, destination, error) => {
  const { rename } = await openTree();
  expect(await rename(source, destination)).toBe(error);
});
