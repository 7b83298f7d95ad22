import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { PortableSource } from '../../../src/fs/watch/portable-source.js';
import { makeTempDirectory } from '../../support/temp-directory.js';

async function openSource() {
  const directory = join(await makeTempDirectory(), 'd');
  mkdirSync(directory);
  const story: string[] = [];
  let onNews = () => {};
  const tell = (line: string) => {
    story.push(line);
    onNews();
  };
  const source = new PortableSource(() => tell('overflow'));
  onTestFinished(() => source.close());
  const watch = source.watch(directory, 'content', {
    onEntry: ({ kind, name }) => tell(`${kind} ${name}`),
    onLost: () => tell('lost'),
  });
  return {
    directory,
    source,
    story,
    watch,
    until: async (line: string): Promise<void> => {
      while (!story.includes(line)) await new Promise<void>((resolve) => (onNews = resolve));
    },
  };
}

it('tells what came, changed and went', async () => {
  const { directory, until } = await openSource();
  writeFileSync(join(directory, 'f'), '');
  await until('created f');
  appendFileSync(join(directory, 'f'), '.');
  await until('modified f');
  rmSync(join(directory, 'f'));
  await until('removed f');
  rmSync(directory, { recursive: true });
  await until('lost');
});

it('takes a burst that its queue may not have held for an overflow', async () => {
  const { directory, until } = await openSource();
  for (let index = 0; index < 5000; index++) writeFileSync(join(directory, `${index}`), '');
  await until('overflow');
});

it('throws an OsError for what cannot be watched', async () => {
  const { directory, source } = await openSource();
  const listener = { onEntry() {}, onLost() {} };
  expect(() => source.watch(join(directory, 'none'), 'names', listener)).toThrow(
    'No such file or directory (os error 2)',
  );
});
