import { expect, test } from 'vitest';
import { listSourceFiles } from './source-files.js';

/** Lines; a file beyond it does two things. */
const MAX_LINES = 400;

test(`no source file has more than ${MAX_LINES} lines`, () => {
  const long = listSourceFiles()
    .map(({ path, text }) => ({ path, lines: text.split('\n').length - 1 }))
    .filter(({ lines }) => lines > MAX_LINES);
  expect(long).toEqual([]);
});
