import { readlinkSync, symlinkSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { openFileSession } from '../../support/files.js';

it.each(['f', '../elsewhere', '/absolute/one', 'nowhere at all', 'ümlaut', './a//b/'])(
  'makes and reads a link that says %j, as it is',
  async (target) => {
    const { call, uri, path } = await openFileSession();
    expect(await call('fs/symlink', { path: uri('link'), target })).toEqual({});
    expect(readlinkSync(path('link'))).toBe(target);
    expect(await call('fs/readLink', { path: uri('link') })).toEqual({ target });
  },
);

it('makes no link where something is, a link that leads nowhere included', async () => {
  const { call, uri, path } = await openFileSession();
  writeFileSync(path('f'), 'kept');
  symlinkSync('nowhere', path('broken'));
  for (const name of ['f', 'broken']) {
    expect(await call('fs/symlink', { path: uri(name), target: 'x' })).toBe(
      '-32603 File exists (os error 17)',
    );
  }
  expect(readlinkSync(path('broken'))).toBe('nowhere');
});

it.each([
  ['missing/link', 'x', '-32004 No such file or directory (os error 2)'],
  ['f/link', 'x', '-32603 Not a directory (os error 20)'],
  ['link', '', '-32004 No such file or directory (os error 2)'],
  ['link', 'a\0b', '-32600 file name contained an unexpected NUL byte'],
  ['link', 'x'.repeat(4096), '-32603 Filename too long (os error 36)'],
])('a link at %j to %j: %s', async (name, target, error) => {
  const { call, uri, path } = await openFileSession();
  writeFileSync(path('f'), '');
  expect(await call('fs/symlink', { path: uri(name), target })).toBe(error);
});

it.each([
  ['missing', '-32004 No such file or directory (os error 2)'],
  ['f', '-32600 Invalid argument (os error 22)'],
  ['bytes', '-32603 target of the symbolic link is not valid UTF-8'],
])('reading %s: %s', async (name, error) => {
  const { call, uri, path } = await openFileSession();
  writeFileSync(path('f'), '');
  symlinkSync(Buffer.from([0x61, 0xff]), path('bytes'));
  expect(await call('fs/readLink', { path: uri(name) })).toBe(error);
});
