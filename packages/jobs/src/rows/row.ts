/** One row: values by column. Those of CSV are texts. */
export type Row = Readonly<Record<string, unknown>>;

/** Rows from somewhere, and the columns they have. */
export interface RowSource {
  /** Throws or rejects with `JobError` for a row that cannot be read. Can be read once. */
  readonly rows: AsyncIterable<Row>;
  /** In the order in which they appear. Complete once the rows have been read. */
  readonly columns: readonly string[];
  /** What the source calls its columns, for errors. */
  readonly columnsName: string;
}

/** A value as the text that stands in for its placeholder and in its field of the output. */
export function toText(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
