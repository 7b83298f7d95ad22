import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { encodeResult } from '@exec-server/protocol';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { hasLongList, writeLargeResult } from '../../src/connection/large-result.js';
import { openServer, openSession } from '../support/session.js';
import { makeTempDirectory } from '../support/temp-directory.js';

it.each([
  [511, false],
  [512, true],
  [513, true],
])('a list of %i is written in slices: %s', (length, isLong) => {
  expect(hasLongList({ a: 1, list: Array.from({ length }, () => 0) })).toBe(isLong);
  expect(hasLongList(Array.from({ length }, () => 0))).toBe(false);
  expect([null, 'text', undefined].map(hasLongList)).toEqual([false, false, false]);
});

it('is what is written at once', async () => {
  const value = fc.oneof(
    fc.jsonValue(),
    fc.constant(undefined),
    fc.array(fc.oneof(fc.jsonValue(), fc.constant(undefined))),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(fc.integer(), fc.string(), fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })),
      fc.dictionary(fc.string(), value),
      async (id, result) => {
        expect((await writeLargeResult(id, result)).toString()).toBe(`${encodeResult(id, result)}\n`);
      },
    ),
    { numRuns: 1_000 },
  );
});

it('lets others have their turn', async () => {
  const list = Array.from({ length: 200_000 }, (_, index) => ({ fileName: `file ${index}`, isFile: true }));
  let isOver = false;
  const written = writeLargeResult(1, { list }).finally(() => (isOver = true));
  let turns = 0;
  for (; !isOver; turns++) await setImmediate();
  expect(turns).toBeGreaterThan(5);
  expect((await written).toString()).toBe(`${encodeResult(1, { list })}\n`);
});

it('is the answer to whoever lists a large directory', async () => {
  const directory = join(await makeTempDirectory(), 'large');
  await mkdir(directory);
  const names = Array.from({ length: 600 }, (_, index) => `é ${index}`);
  for (const name of names) await writeFile(join(directory, name), '');
  const wire = await openSession(openServer());
  const { result } = await wire.request('fs/readDirectory', { path: `file://${directory}` });
  const entries = result?.entries as { readonly fileName: string }[];
  expect(new Set(entries.map(({ fileName }) => fileName))).toEqual(new Set(names));
});
