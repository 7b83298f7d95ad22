import { join } from 'node:path';
import { expect, it } from 'vitest';
import { findMainCheckout } from '../../../src/environment/config/git-root.js';
import { makeFileTree } from '../../support/file-tree.js';

const LIMIT_BYTES = 16 * 1024;

it.each([
  [LIMIT_BYTES - 1, true],
  [LIMIT_BYTES, true],
  [LIMIT_BYTES + 1, false],
])('a worktree whose link has %i bytes is found: %s', async (bytes, found) => {
  const link = 'gitdir: ../main/.git/worktrees/w\n';
  const root = await makeFileTree({
    'main/.git/HEAD': '',
    'main/.git/worktrees/w/gitdir': '../../../../work/.git\n',
    'main/.git/worktrees/w/commondir': '../..\n',
    'work/.git': link.padEnd(bytes, '\n'),
  });
  expect(await findMainCheckout(join(root, 'work'))).toBe(found ? join(root, 'main') : undefined);
});
