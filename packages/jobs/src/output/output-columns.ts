import { JobError } from '../errors.js';
import { type Row, toText } from '../rows/row.js';
import { toCsvLine } from './csv-line.js';

/** Columns that the output adds to those of the input. */
export const OUTPUT_COLUMNS = [
  'job_id',
  'item_id',
  'row_index',
  'source_id',
  'status',
  'attempt_count',
  'last_error',
  'result_json',
  'reported_at',
  'completed_at',
] as const;

/** What the output says of one item; absent members are empty. */
export type OutputItem = Readonly<Record<(typeof OUTPUT_COLUMNS)[number], string | number | undefined>>;

/** Refuses columns that the output could not be told apart from. Throws `JobError`. */
export function checkInputColumns(columns: readonly string[]): void {
  const taken = OUTPUT_COLUMNS.filter((name) => columns.includes(name));
  if (taken.length > 0)
    throw new JobError(
      'input',
      `the input has columns that the output adds: ${taken.join(', ')}; rename them or leave them out`,
    );
}

export function toHeaderLine(columns: readonly string[]): string {
  return toCsvLine([...columns, ...OUTPUT_COLUMNS]);
}

export function toItemLine(columns: readonly string[], row: Row, item: OutputItem): string {
  return toCsvLine([
    ...columns.map((column) => toText(Object.hasOwn(row, column) ? row[column] : '')),
    ...OUTPUT_COLUMNS.map((column) => toText(item[column])),
  ]);
}
