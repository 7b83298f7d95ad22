import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MAX_ROW_CHARACTERS } from '../../src/rows/read-csv.js';
import { readIterable, readJsonl } from '../../src/rows/read-jsonl.js';
import type { Row } from '../../src/rows/row.js';
import { collect } from '../collect.js';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'jobs-'));
});
afterAll(() => rm(directory, { recursive: true }));

async function read(content: string) {
  const path = join(directory, 'rows.jsonl');
  await writeFile(path, content);
  const source = readJsonl(path);
  return { rows: await collect(source.rows), columns: source.columns };
}

describe('readJsonl', () => {
  it('reads an object from each line, and the columns of all of them', async () => {
    expect(await read('\uFEFF{"a":1,"b":"x"}\r\n\n{"b":[2],"c":null}')).toEqual({
      rows: [
        { a: 1, b: 'x' },
        { b: [2], c: null },
      ],
      columns: ['a', 'b', 'c'],
    });
  });

  it.each([
    ['{"a":1}\n\n[1]\n', 'jsonl line 3 must be a JSON object'],
    ['"x"', 'jsonl line 1 must be a JSON object'],
  ])('refuses %j', async (content, message) => {
    await expect(read(content)).rejects.toMatchObject({ code: 'input', message });
  });

  it('says where JSON is broken', async () => {
    await expect(read('{"a":1}\n{"a":')).rejects.toThrow(/^failed to parse jsonl input: line 2: /);
  });

  it.each([
    [-1, true],
    [0, true],
    [1, false],
  ])('a line with %i characters more than the limit is read: %s', async (more, isRead) => {
    const frame = '{"a":""}'.length;
    const reading = read(`{"a":"${'x'.repeat(MAX_ROW_CHARACTERS - frame + more)}"}\n{}`);
    if (isRead) expect((await reading).rows).toHaveLength(2);
    else
      await expect(reading).rejects.toThrow(
        `failed to parse jsonl input: line 1: the row has more than ${MAX_ROW_CHARACTERS} characters`,
      );
  });

  it('says which file it cannot read', async () => {
    const path = join(directory, 'none.jsonl');
    await expect(collect(readJsonl(path).rows)).rejects.toThrow(`failed to read jsonl input ${path}: `);
  });
});

describe('readIterable', () => {
  it('reads arrays and generators', async () => {
    const generate = async function* () {
      yield { x: 1 };
      yield { y: 2 };
    };
    const source = readIterable(generate());
    expect(await collect(source.rows)).toEqual([{ x: 1 }, { y: 2 }]);
    expect(source.columns).toEqual(['x', 'y']);
  });

  it('refuses what is no object', async () => {
    const source = readIterable([{ a: 1 }, ['b']] as unknown as Row[]);
    await expect(collect(source.rows)).rejects.toThrow('row 1 must be an object');
  });
});
