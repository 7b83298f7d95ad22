import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { expect, it } from 'vitest';
import { makeDirectoryOutsideTemp } from '../src/outside-temp.js';

it('makes a directory outside of the temporary ones, and removes it', () => {
  const { path, remove } = makeDirectoryOutsideTemp();
  expect(existsSync(path)).toBe(true);
  expect(path.startsWith('/tmp/') || path.startsWith(`${tmpdir()}/`)).toBe(false);
  remove();
  expect(existsSync(path)).toBe(false);
});
