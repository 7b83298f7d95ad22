import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { LIMIT_TESTS, WITHOUT_EDGE } from './limit-tests.js';
import { ROOT } from './source-files.js';

/** A row begins with the name of a limit, and ends with its file when it is one inside the server. */
const ROW = /^\| `([\w.]+)` \|.*?(?:\| `([\w/.-]+\.ts)` )?\|$/gm;

const documented = Array.from(
  readFileSync(join(ROOT, 'docs/limits.md'), 'utf8').matchAll(ROW),
  ([, name, file]) => (file === undefined ? name : `${file} ${name}`),
);

test('every limit that is documented has a test at its edge, and no test is for a limit that is gone', () => {
  const registered = [...Object.keys(LIMIT_TESTS), ...WITHOUT_EDGE];
  expect(registered.sort()).toEqual([...documented].sort());
});

test('the tests at the edges are there', () => {
  const missing = Object.entries(LIMIT_TESTS).filter(([, { file, title }]) => {
    const path = join(ROOT, 'packages', file);
    return !existsSync(path) || !readFileSync(path, 'utf8').includes(title);
  });
  expect(missing).toEqual([]);
});
