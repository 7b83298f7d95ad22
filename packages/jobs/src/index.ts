export { JobError, type JobErrorCode } from './errors.js';
export { OUTPUT_COLUMNS } from './output/output-columns.js';
export { readCsv } from './rows/read-csv.js';
export { readIterable, readJsonl } from './rows/read-jsonl.js';
export type { Row, RowSource } from './rows/row.js';
