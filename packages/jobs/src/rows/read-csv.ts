import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { CsvError, type Options, parse } from 'csv-parse';
import { JobError, messageOf } from '../errors.js';
import { countLineEnds, readText } from './read-text.js';
import type { Row, RowSource } from './row.js';

/** Longest row, in characters of all its values. */
export const MAX_ROW_CHARACTERS = 1024 * 1024;

/** How the rows of a file are told apart. A file may mix them. */
const LINE_ENDS = ['\r\n', '\n', '\r'];

const TOO_LONG = `the row has more than ${MAX_ROW_CHARACTERS} characters`;

/** What the library calls a breach of the format, in words for people. */
const BREACHES: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'the quote of a field is not closed',
  CSV_INVALID_CLOSING_QUOTE: 'something other than a comma follows the closing quote of a field',
  INVALID_OPENING_QUOTE: 'a quote stands inside of a field that does not begin with one',
  CSV_MAX_RECORD_SIZE: TOO_LONG,
};

interface Line {
  /** Line of the file that it begins at, from 1. */
  readonly number: number;
  readonly fields: readonly string[];
}

/** Reads a CSV file as RFC 4180 has it, with a header row. Rows whose fields are all empty are skipped. */
export function readCsv(path: string): RowSource {
  const columns: string[] = [];
  return { columns, columnsName: 'csv headers', rows: readRows(path, columns) };
}

async function* readRows(path: string, columns: string[]): AsyncGenerator<Row> {
  let hasHeader = false;
  for await (const { number, fields } of readLines(path)) {
    if (fields.every((field) => field === '')) continue;
    if (!hasHeader) {
      hasHeader = true;
      checkHeader(fields);
      columns.push(...fields);
      continue;
    }
    if (fields.length !== columns.length)
      throw new JobError(
        'input',
        `csv row ${number} has ${fields.length} fields but header has ${columns.length}`,
      );
    yield Object.fromEntries(columns.map((column, index) => [column, fields[index] ?? '']));
  }
  if (!hasHeader) throw new JobError('input', 'csv input must include a header row');
}

function checkHeader(header: readonly string[]): void {
  const seen = new Set<string>();
  for (const name of header) {
    if (seen.has(name)) throw new JobError('input', `csv header ${name} is duplicated`);
    seen.add(name);
  }
}

async function* readLines(path: string): AsyncGenerator<Line> {
  let next = 1;
  const options = {
    bom: true,
    record_delimiter: LINE_ENDS,
    relax_column_count: true,
    // Its way of counting differs by some characters, so it only keeps what has no end out of memory.
    max_record_size: 2 * MAX_ROW_CHARACTERS,
    // The library counts a line end of two characters inside of quotes as two.
    on_record: (fields: string[]): Line => {
      const number = next;
      if (fields.reduce((sum, field) => sum + field.length, 0) > MAX_ROW_CHARACTERS)
        throw new JobError('input', `failed to parse csv input: line ${number}: ${TOO_LONG}`);
      next += 1 + fields.reduce((sum, field) => sum + countLineEnds(field), 0);
      return { number, fields };
    },
  };
  // Its types know of no record that has become something else.
  const parser = parse(options as unknown as Options<string[], string[]>);
  const feeding = pipeline(Readable.from(readText(path, 'csv')), parser);
  // Whoever reads the parser is told as well.
  feeding.catch(() => {});
  try {
    yield* parser as unknown as AsyncIterable<Line>;
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const breach = BREACHES[error.code] ?? messageOf(error);
    throw new JobError('input', `failed to parse csv input: line ${next}: ${breach}`, { cause: error });
  }
}
