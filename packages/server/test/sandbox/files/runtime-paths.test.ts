import { realpathSync, statSync } from 'node:fs';
import { expect, it } from 'vitest';
import { findRuntime, parseLibraries } from '../../../src/sandbox/files/runtime-paths.js';

it.each([
  [
    'glibc',
    '\tlinux-vdso.so.1 (0x00007f1c370a7000)\n\tlibdl.so.2 => /lib/x86_64-linux-gnu/libdl.so.2 (0x00007f1c37091000)\n' +
      '\t/lib64/ld-linux-x86-64.so.2 (0x00007f1c370a9000)\n',
    ['/lib/x86_64-linux-gnu/libdl.so.2', '/lib64/ld-linux-x86-64.so.2'],
  ],
  [
    'musl',
    '\t/lib/ld-musl-x86_64.so.1 (0x7f0c)\n\tlibstdc++.so.6 => /usr/lib/libstdc++.so.6 (0x7f0d)\n' +
      '\tlibc.musl-x86_64.so.1 => /lib/ld-musl-x86_64.so.1 (0x7f0c)\n',
    ['/lib/ld-musl-x86_64.so.1', '/usr/lib/libstdc++.so.6', '/lib/ld-musl-x86_64.so.1'],
  ],
  ['a program without any', '\tnot a dynamic executable\n', []],
])('the list of %s', (_, listing, expected) => {
  expect(parseLibraries(listing)).toEqual(expected);
});

it('finds Node itself, and only what exists', () => {
  const { program, paths } = findRuntime();
  expect(program).toBe(realpathSync(process.execPath));
  expect(paths.map(String)).toContain(program);
  for (const path of paths) expect(statSync(path).isFile()).toBe(true);
});
