import { appendFile, readFile, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Journal, type PlacedEntry } from '../../src/store/journal.js';
import type { JournalEntry } from '../../src/store/journal-entry.js';
import { makeDirectory } from '../temp-directory.js';

const entry = (item: number): JournalEntry => ({
  type: 'end',
  item,
  attempt: 1,
  status: 'completed',
  result: { text: 'ä'.repeat(item) },
  at: 1,
});

async function readAll(path: string): Promise<PlacedEntry[]> {
  const entries: PlacedEntry[] = [];
  await using _ = await Journal.open(path, (placed) => entries.push(placed));
  return entries;
}

describe('Journal', () => {
  it('keeps what was appended, in order, and finds each entry again', async () => {
    const path = join(await makeDirectory(), 'journal');
    const journal = await Journal.open(path);
    const places = await Promise.all([0, 1, 2].map((item) => journal.append(entry(item))));
    places.push(await journal.append(entry(3)));
    for (const [item, place] of places.entries()) expect(await journal.read(place)).toEqual(entry(item));
    await journal[Symbol.asyncDispose]();
    expect(await readAll(path)).toEqual(places.map((place, item) => ({ entry: entry(item), ...place })));
  });

  it('cut anywhere, it has every entry that is whole, and goes on behind it', async () => {
    const path = join(await makeDirectory(), 'journal');
    const journal = await Journal.open(path);
    await Promise.all([1, 2, 3].map((item) => journal.append(entry(item))));
    await journal[Symbol.asyncDispose]();
    const lines = (await readFile(path, 'utf8')).split('\n').slice(0, 3);
    for (let { size } = await stat(path); size > 0; size--) {
      await truncate(path, size - 1);
      const text = await readFile(path, 'utf8');
      const whole = lines.filter((line) => text.includes(`${line}\n`)).length;
      expect((await readAll(path)).map((placed) => placed.entry)).toEqual(
        [1, 2, 3].slice(0, whole).map(entry),
      );
      const again = await Journal.open(path);
      await again.append(entry(9));
      await again[Symbol.asyncDispose]();
      expect((await readAll(path)).at(-1)?.entry).toEqual(entry(9));
      await truncate(path, Buffer.byteLength(text));
    }
  });

  it('refuses a line in its middle that is no entry', async () => {
    const path = join(await makeDirectory(), 'journal');
    await appendFile(path, `${JSON.stringify(entry(1))}\n{"type":"en\n${JSON.stringify(entry(2))}\n`);
    await expect(Journal.open(path)).rejects.toMatchObject({
      code: 'corrupt',
      message: 'the journal of the job is damaged: line 2 is no entry',
    });
  });
});
