import { mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { removePath } from '../../src/fs/remove.js';
import { OsError } from '../../src/os-error.js';
import { makeSwappable, startSwapping } from '../support/swapping-thread.js';
import { makeTempDirectory } from '../support/temp-directory.js';

const ROUNDS = 60;
const NAMES = ['a', 'b', 'c', 'd', 'e'];
const TREE = { recursive: true, force: true, followSymlinks: true };

it('a directory that becomes a link does not lead a removal elsewhere', async () => {
  const directory = await makeTempDirectory();
  const [outside, tree] = [join(directory, 'outside'), join(directory, 'tree')];
  const swapped = join(tree, 'swapped');
  mkdirSync(outside);
  for (const name of NAMES) writeFileSync(join(outside, name), '');
  startSwapping(swapped);
  for (let round = 0; round < ROUNDS; round++) {
    // Complete before the thread finds it.
    const next = join(directory, 'next');
    makeSwappable(join(next, 'swapped'), outside);
    renameSync(next, tree);
    await removePath(Buffer.from(tree), TREE).catch((error: unknown) => {
      // What was renamed behind the removal's back is still there.
      expect(error).toBeInstanceOf(OsError);
      renameSync(tree, join(directory, `left-${round}`));
    });
  }
  expect(readdirSync(outside)).toEqual(NAMES);
});
