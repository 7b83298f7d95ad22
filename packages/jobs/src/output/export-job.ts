import type { StoredJob } from '../store/stored-job.js';
import { type OutputItem, toHeaderLine, toItemLine } from './output-columns.js';
import { writeAtomically } from './write-atomically.js';

/** Writes what became of every row as CSV. */
export function exportCsv(job: StoredJob, path: string): Promise<void> {
  return writeAtomically(path, toCsv(job));
}

/** Writes what became of every row as JSON, a line for each. */
export function exportJsonl(job: StoredJob, path: string): Promise<void> {
  return writeAtomically(path, toJsonl(job));
}

export async function* toCsv(job: StoredJob): AsyncGenerator<string> {
  const { columns } = job.settings;
  yield toHeaderLine(columns);
  for await (const { row, item } of readItems(job)) yield toItemLine(columns, row, item);
}

export async function* toJsonl(job: StoredJob): AsyncGenerator<string> {
  for await (const { row, item } of readItems(job)) {
    const { result_json: text, ...rest } = item;
    const result = typeof text === 'string' ? (JSON.parse(text) as unknown) : undefined;
    yield `${JSON.stringify({ ...rest, result, row })}\n`;
  }
}

async function* readItems(job: StoredJob) {
  for await (const { index, itemId, sourceId, row } of job.rows.all()) {
    const state = job.state.items[index];
    if (state === undefined) return;
    const end = state.hasResult && state.end !== undefined ? await job.readEnd(state.end) : undefined;
    const item: OutputItem = {
      job_id: job.settings.id,
      item_id: itemId,
      row_index: index,
      source_id: sourceId,
      status: state.status,
      attempt_count: state.attempts,
      last_error: state.error,
      result_json: end?.result === undefined ? undefined : JSON.stringify(end.result),
      reported_at: toTime(state.reportedAt),
      completed_at: toTime(state.completedAt),
    };
    yield { row, item };
  }
}

function toTime(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : new Date(ms).toISOString();
}
