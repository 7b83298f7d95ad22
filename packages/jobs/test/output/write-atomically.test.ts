import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeAtomically } from '../../src/output/write-atomically.js';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'jobs-'));
});
afterAll(() => rm(directory, { recursive: true }));

test('a file is written whole, and its directory made', async () => {
  const path = join(directory, 'new/deep/out.csv');
  await writeAtomically(path, ['a\n', 'x'.repeat(200_000), '\nb\n']);
  expect(await readFile(path, 'utf8')).toBe(`a\n${'x'.repeat(200_000)}\nb\n`);
  expect(await readdir(join(directory, 'new/deep'))).toEqual(['out.csv']);
});

test('what fails on the way leaves the old content, and nothing else', async () => {
  const path = join(directory, 'old.csv');
  await writeFile(path, 'old');
  const failing = async function* () {
    yield 'new';
    throw new Error('no more');
  };
  await expect(writeAtomically(path, failing())).rejects.toThrow('no more');
  expect(await readFile(path, 'utf8')).toBe('old');
  expect((await readdir(directory)).filter((name) => name.endsWith('.tmp'))).toEqual([]);
});
