import { symlink } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findCodexHome, findUserHome } from '../../src/environment/codex-home.js';
import { makeFileTree } from '../support/file-tree.js';

describe('the home directory', () => {
  it('is that of the environment, else that of the user database', () => {
    expect(findUserHome({ HOME: '/home/somebody' })).toBe('/home/somebody');
    expect(findUserHome({ HOME: '' })).toBe(userInfo().homedir);
    expect(findUserHome({})).toBe(userInfo().homedir);
  });
});

describe('the directory of the configuration', () => {
  it('is below the home directory, whether it exists or not', async () => {
    expect(await findCodexHome({ HOME: '/nowhere' })).toBe('/nowhere/.codex');
    expect(await findCodexHome({ HOME: '/nowhere', CODEX_HOME: '' })).toBe('/nowhere/.codex');
  });

  it('is the one that the environment names, without links on the way', async () => {
    const root = await makeFileTree({ 'real/file': '' });
    await symlink('real', join(root, 'link'));
    expect(await findCodexHome({ CODEX_HOME: join(root, 'link') })).toBe(join(root, 'real'));
  });

  it('must exist and be a directory then', async () => {
    const root = await makeFileTree({ file: '' });
    const at = (name: string) => findCodexHome({ CODEX_HOME: join(root, name) });
    await expect(at('missing')).rejects.toThrow(
      `CODEX_HOME points to "${root}/missing", but that path does not exist`,
    );
    await expect(at('file')).rejects.toThrow(
      `CODEX_HOME points to "${root}/file", but that path is not a directory`,
    );
  });
});
