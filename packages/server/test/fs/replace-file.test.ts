import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { expect, it, onTestFinished } from 'vitest';
import { replaceFile } from '../../src/fs/replace-file.js';
import { makeTempDirectory } from '../support/temp-directory.js';

const SIZE = 256 * 1024;
const ROUNDS = 40;

/** Reads a file over and over and tells when it is not one character, repeated. */
const READ = `
const { readFileSync } = require('node:fs');
const { parentPort, workerData } = require('node:worker_threads');
for (let reads = 1; ; reads++) {
  const content = readFileSync(workerData.path);
  const whole = content.length === workerData.size && content.every((byte) => byte === content[0]);
  if (!whole || reads === 1) parentPort.postMessage(whole);
}
`;

it('a reader sees the old content or the new one', async () => {
  const directory = await makeTempDirectory();
  const path = join(directory, 'f');
  writeFileSync(path, Buffer.alloc(SIZE, 'a'));
  const reader = new Worker(READ, { eval: true, workerData: { path, size: SIZE } });
  onTestFinished(async () => {
    await reader.terminate();
  });
  const seen: boolean[] = [];
  await new Promise<void>((resolve) => {
    reader.on('message', (whole: boolean) => {
      seen.push(whole);
      resolve();
    });
  });
  for (let round = 0; round < ROUNDS; round++) {
    const content = Buffer.alloc(SIZE, round % 2 === 0 ? 'b' : 'a');
    await replaceFile(Buffer.from(path), content, { followSymlinks: true });
    expect(readFileSync(path).equals(content)).toBe(true);
  }
  expect(seen).toEqual([true]);
  expect(readdirSync(directory)).toEqual(['f']);
});

it('several at once leave one whole file and nothing else', async () => {
  const directory = await makeTempDirectory();
  const path = join(directory, 'f');
  const contents = ['a', 'b', 'c', 'd'].map((character) => Buffer.alloc(SIZE, character));
  await Promise.all(
    contents.map((content) => replaceFile(Buffer.from(path), content, { followSymlinks: true })),
  );
  const written = readFileSync(path);
  expect(contents.some((content) => content.equals(written))).toBe(true);
  expect(readdirSync(directory)).toEqual(['f']);
});

it.each([39, 40, 41])('goes through %i links as far as the system does', async (links) => {
  const directory = await makeTempDirectory();
  const path = join(directory, '0');
  for (let link = 0; link < links; link++) symlinkSync(`${link + 1}`, join(directory, `${link}`));
  const target = join(directory, `${links}`);
  writeFileSync(target, 'old');
  const writing = replaceFile(Buffer.from(path), Buffer.from('new'), { followSymlinks: true });
  if (links <= 40) await writing;
  else await expect(writing).rejects.toMatchObject({ errno: constants.errno.ELOOP });
  expect(readFileSync(target, 'utf8')).toBe(links <= 40 ? 'new' : 'old');
  const readThrough = () => readFileSync(path, 'utf8');
  if (links <= 40) expect(readThrough()).toBe('new');
  else expect(readThrough).toThrow('ELOOP');
});
