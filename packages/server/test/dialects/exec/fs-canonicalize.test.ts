import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { openFileSession } from '../../support/files.js';

it('resolves links and answers with the canonical spelling', async () => {
  const { path, uri, call } = await openFileSession();
  mkdirSync(path('d'));
  writeFileSync(path('d/sp ace%#?é'), '');
  symlinkSync('d', path('dlink'));
  const canonicalize = (name: string) => call('fs/canonicalize', { path: `${uri()}/${name}` });
  const expected = { path: `${uri('d')}/sp%20ace%25%23%3F%C3%A9` };
  expect(await canonicalize('dlink/sp ace%25%23%3Fé')).toEqual(expected);
  expect(await canonicalize('dlink/../d//sp%20ace%25%23%3F%C3%A9/')).toEqual(expected);
});

it.each([
  ['missing', '-32004 No such file or directory (os error 2)'],
  ['broken', '-32004 No such file or directory (os error 2)'],
  ['loop', '-32603 Symbolic link loop (os error 40)'],
  ['f/x', '-32603 Not a directory (os error 20)'],
])('%s: %s', async (name, error) => {
  const { path, uri, call } = await openFileSession();
  writeFileSync(path('f'), '');
  symlinkSync('nowhere', path('broken'));
  symlinkSync('loop', path('loop'));
  expect(await call('fs/canonicalize', { path: uri(name) })).toBe(error);
});
