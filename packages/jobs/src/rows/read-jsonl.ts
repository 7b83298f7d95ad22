import { JobError, messageOf } from '../errors.js';
import { MAX_ROW_CHARACTERS } from './read-csv.js';
import { readText } from './read-text.js';
import { isObject, type Row, type RowSource } from './row.js';

const BYTE_ORDER_MARK = '\uFEFF';

/** Reads a file with one JSON object on each line. Blank lines are skipped. */
export function readJsonl(path: string): RowSource {
  return collectColumns(readObjects(path), 'jsonl rows');
}

/** Rows of any iterable, such as an array. */
export function readIterable(rows: Iterable<Row> | AsyncIterable<Row>): RowSource {
  return collectColumns(checkObjects(rows), 'rows');
}

async function* checkObjects(rows: Iterable<Row> | AsyncIterable<Row>): AsyncGenerator<Row> {
  let index = 0;
  for await (const row of rows) {
    if (!isObject(row)) throw new JobError('input', `row ${index} must be an object`);
    index++;
    yield row;
  }
}

function collectColumns(rows: AsyncIterable<Row>, columnsName: string): RowSource {
  const columns: string[] = [];
  const seen = new Set<string>();
  const collect = async function* (): AsyncGenerator<Row> {
    for await (const row of rows) {
      for (const name of Object.keys(row)) {
        if (seen.has(name)) continue;
        seen.add(name);
        columns.push(name);
      }
      yield row;
    }
  };
  return { columns, columnsName, rows: collect() };
}

async function* readObjects(path: string): AsyncGenerator<Row> {
  let number = 0;
  for await (const line of readLines(path)) {
    number++;
    const text = number === 1 && line.startsWith(BYTE_ORDER_MARK) ? line.slice(1) : line;
    if (text.trim() === '') continue;
    yield parseObject(text, number);
  }
}

function parseObject(text: string, number: number): Row {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new JobError('input', `failed to parse jsonl input: line ${number}: ${messageOf(error)}`, {
      cause: error,
    });
  }
  if (!isObject(value)) throw new JobError('input', `jsonl line ${number} must be a JSON object`);
  return value;
}

async function* readLines(path: string): AsyncGenerator<string> {
  let pieces: string[] = [];
  let length = 0;
  let number = 1;
  const keep = (piece: string) => {
    pieces.push(piece);
    length += piece.length;
    if (length > MAX_ROW_CHARACTERS)
      throw new JobError(
        'input',
        `failed to parse jsonl input: line ${number}: the row has more than ${MAX_ROW_CHARACTERS} characters`,
      );
  };
  for await (const text of readText(path, 'jsonl')) {
    const lines = text.split('\n');
    const rest = lines.pop() ?? '';
    for (const line of lines) {
      keep(line);
      yield pieces.join('');
      pieces = [];
      length = 0;
      number++;
    }
    keep(rest);
  }
  yield pieces.join('');
}
