import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { packFiles } from '../../scripts/pack-files.mjs';

const { Pack } = createRequire(import.meta.url)('../../packages/cli/bin/load-bundle.js') as {
  Pack: new (file: string) => { names(): string[]; read(name: string): Buffer | undefined };
};

function makeFile(): string {
  const directory = mkdtempSync(join(tmpdir(), 'pack-files-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return join(directory, 'deep/er.pack');
}

test('what was packed is read, as it was and in its order', () => {
  const file = makeFile();
  const contents = new Map([
    ['z', Buffer.from([0, 10, 255])],
    ['empty', Buffer.alloc(0)],
    ['long', Buffer.alloc(100_000, 'text ')],
  ]);
  for (const deflated of [new Set<string>(), new Set(['long', 'empty'])]) {
    packFiles(file, contents, deflated);
    const pack = new Pack(file);
    expect(pack.names()).toEqual(['z', 'empty', 'long']);
    for (const [name, bytes] of contents) expect(pack.read(name)).toEqual(bytes);
    expect(pack.read('none')).toBeUndefined();
    expect(readFileSync(file).length > 100_000).toBe(!deflated.has('long'));
  }
  expect(readdirSync(join(file, '..'))).toEqual(['er.pack']);
});

test.each([1, 2, 3, 4, 5, 6, 7, 8, 9])(
  'behind %i bytes the next file begins at a multiple of 8',
  (length) => {
    const file = makeFile();
    packFiles(
      file,
      new Map([
        ['a', Buffer.alloc(length)],
        ['next', Buffer.from('next')],
      ]),
    );
    expect(readFileSync(file).indexOf('next', readFileSync(file).indexOf('\n')) % 8).toBe(0);
  },
);
