import type { Machine } from '@exec-server/client';
import { expect, it } from 'vitest';
import { resolveRemotePath } from '../../src/files/resolve-remote-path.js';

function machineWith(info: { cwd?: string | null; userHomeDir?: string | null }): Machine {
  return {
    environment: async () => ({ shell: { name: 'sh', path: '/bin/sh' }, ...info }),
  } as unknown as Machine;
}

const machine = machineWith({ cwd: 'file:///srv/a%20b', userHomeDir: 'file:///home/me' });

it.each([
  ['/etc', '/etc'],
  ['', '/srv/a b'],
  ['x/y', '/srv/a b/x/y'],
  ['~', '/home/me'],
  ['~/x', '/home/me/x'],
  ['~other', '/srv/a b/~other'],
])('%j is %s', async (path, resolved) => {
  expect(await resolveRemotePath(machine, path)).toBe(resolved);
});

it('a server at the root', async () => {
  expect(await resolveRemotePath(machineWith({ cwd: 'file:///' }), 'etc')).toBe('/etc');
});

it.each([{}, { cwd: null, userHomeDir: null }])(
  '%j: relative paths need a server that tells',
  async (info) => {
    for (const path of ['x', '~'])
      await expect(resolveRemotePath(machineWith(info), path)).rejects.toMatchObject({
        hint: 'Give an absolute path.',
      });
    expect(await resolveRemotePath(machineWith(info), '/x')).toBe('/x');
  },
);
