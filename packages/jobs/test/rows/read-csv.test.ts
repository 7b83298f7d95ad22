import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MAX_ROW_CHARACTERS, readCsv } from '../../src/rows/read-csv.js';
import { collect } from '../collect.js';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'jobs-'));
});
afterAll(() => rm(directory, { recursive: true }));

async function read(content: string | Uint8Array) {
  const path = join(directory, 'rows.csv');
  await writeFile(path, content);
  const source = readCsv(path);
  const rows = await collect(source.rows);
  return { columns: source.columns, rows };
}

describe('readCsv', () => {
  it.each([
    [
      'a,b\n1,2\n3,4\n',
      [
        { a: '1', b: '2' },
        { a: '3', b: '4' },
      ],
    ],
    ['\uFEFFa,b\r\n1,2\r\n', [{ a: '1', b: '2' }]],
    [
      'a,b\r1,2\r3,4',
      [
        { a: '1', b: '2' },
        { a: '3', b: '4' },
      ],
    ],
    ['a,b\n"x, ""y""","l1\r\nl2"\n', [{ a: 'x, "y"', b: 'l1\r\nl2' }]],
    ['\n\na,b\n\n1,2\n,\n\n', [{ a: '1', b: '2' }]],
    ['a, b\n 1 ,2\n', [{ a: ' 1 ', ' b': '2' }]],
    ['a\n', []],
    [
      '__proto__,constructor\n1,2\n',
      [
        Object.fromEntries([
          ['__proto__', '1'],
          ['constructor', '2'],
        ]),
      ],
    ],
  ])('%j', async (content, rows) => {
    expect((await read(content)).rows).toEqual(rows);
  });

  it('tells the columns in their order', async () => {
    expect((await read('b,a,"c d"\n')).columns).toEqual(['b', 'a', 'c d']);
  });

  it.each([
    ['', 'csv input must include a header row'],
    ['\n,,\n', 'csv input must include a header row'],
    ['a,b,a\n1,2,3\n', 'csv header a is duplicated'],
    ['a,b\n1,2\n3\n', 'csv row 3 has 1 fields but header has 2'],
    ['a,b\n"1\r\n1","2\n2"\n\n3,4,5\n', 'csv row 6 has 3 fields but header has 2'],
    ['a,b\r\n1,2\r\n3,"4\r\n', 'failed to parse csv input: line 3: the quote of a field is not closed'],
    [
      'a,b\n"1\n\n",2\n1,"2"3\n',
      'failed to parse csv input: line 5: something other than a comma follows the closing quote of a field',
    ],
    [
      'a,b\n1,2"3\n',
      'failed to parse csv input: line 2: a quote stands inside of a field that does not begin with one',
    ],
  ])('refuses %j', async (content, message) => {
    await expect(read(content)).rejects.toMatchObject({ code: 'input', message });
  });

  it('refuses what is not UTF-8', async () => {
    await expect(read(Buffer.from('a\nx\n\xff\n', 'latin1'))).rejects.toMatchObject({
      code: 'input',
      message: 'failed to parse csv input: invalid UTF-8 at line 1 or after',
    });
  });

  it('says which file it cannot read, and why', async () => {
    const path = join(directory, 'none.csv');
    await expect(collect(readCsv(path).rows)).rejects.toMatchObject({
      code: 'input',
      message: `failed to read csv input ${path}: ENOENT: no such file or directory, open '${path}'`,
    });
  });

  it.each([-1, 0])('takes a row with %i more characters than the limit', async (more) => {
    const { rows } = await read(`a\n${'x'.repeat(MAX_ROW_CHARACTERS + more)}\n`);
    expect(rows).toEqual([{ a: 'x'.repeat(MAX_ROW_CHARACTERS + more) }]);
  });

  it('refuses a row with one character more than the limit', async () => {
    await expect(read(`a\n${'x'.repeat(MAX_ROW_CHARACTERS + 1)}\n`)).rejects.toMatchObject({
      message: `failed to parse csv input: line 2: the row has more than ${MAX_ROW_CHARACTERS} characters`,
    });
  });
});
