import { lstatSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { openFileSession } from '../../support/files.js';

async function openTree() {
  const session = await openFileSession();
  const { path, uri, call } = session;
  mkdirSync(path('d'));
  writeFileSync(path('d/f'), '');
  symlinkSync('d/f', path('link'));
  symlinkSync('d', path('dlink'));
  const setMode = (name: string, mode: number, params: object = {}) =>
    call('fs/setMode', { path: uri(name), mode, ...params });
  const mode = (name: string) => lstatSync(path(name)).mode & 0o7777;
  return { ...session, setMode, mode };
}

it.each([true, false])(
  'sets the mode of files and directories, following links: %s',
  async (followSymlinks) => {
    const { setMode, mode } = await openTree();
    for (const name of ['d/f', 'd']) {
      for (const bits of [0o700, 0o4755, 0o7777, 0o700]) {
        expect(await setMode(name, bits, { followSymlinks })).toEqual({});
        expect(mode(name)).toBe(bits);
      }
    }
  },
);

it('sets the mode of a file that nobody may read', async () => {
  const { setMode, mode } = await openTree();
  await setMode('d/f', 0);
  expect(await setMode('d/f', 0o640, { followSymlinks: false })).toEqual({});
  expect(mode('d/f')).toBe(0o640);
});

it('goes through links, or refuses them', async () => {
  const { setMode, mode } = await openTree();
  expect(await setMode('link', 0o600)).toEqual({});
  expect(mode('d/f')).toBe(0o600);
  const refusing = { followSymlinks: false };
  expect(await setMode('link', 0o777, refusing)).toBe('-32600 path contains a symbolic link');
  expect(await setMode('dlink/f', 0o777, refusing)).toBe('-32603 Not a directory (os error 20)');
  expect(mode('d/f')).toBe(0o600);
});

it.each([
  [0o7776, {}],
  [0o7777, {}],
  [0o10000, '-32602 mode must not exceed 4095'],
  [-1, '-32602 invalid number'],
  [0.5, '-32602 invalid number'],
])('mode %i: %j', async (mode, answer) => {
  const { setMode } = await openTree();
  expect(await setMode('d/f', mode)).toEqual(answer);
});

it.each([true, false])('a missing file is not found, following links: %s', async (followSymlinks) => {
  const { setMode } = await openTree();
  expect(await setMode('missing', 0o600, { followSymlinks })).toBe(
    '-32004 No such file or directory (os error 2)',
  );
});
