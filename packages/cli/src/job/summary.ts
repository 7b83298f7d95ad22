import type { JobSummary } from '@exec-server/jobs';
import { toPrintable } from '../client/printable.js';
import type { CommandIo } from '../command-io.js';

/** Says what a job came to: for people, or as JSON with the names of the reference. */
export function showSummary(summary: JobSummary, json: boolean, { stdout }: Pick<CommandIo, 'stdout'>): void {
  stdout.write(json ? `${toJson(summary)}\n` : toText(summary));
}

function toJson({
  jobId,
  status,
  outputPath,
  total,
  completed,
  failed,
  error,
  failures,
}: JobSummary): string {
  return JSON.stringify({
    job_id: jobId,
    status,
    output_csv_path: outputPath,
    total_items: total,
    completed_items: completed,
    failed_items: failed,
    job_error: error ?? null,
    failed_item_errors:
      failures.length === 0
        ? null
        : failures.map((item) => ({
            item_id: item.itemId,
            source_id: item.sourceId ?? null,
            last_error: item.error,
          })),
  });
}

function toText({
  jobId,
  status,
  outputPath,
  total,
  completed,
  failed,
  error,
  failures,
}: JobSummary): string {
  const lines = [`job ${jobId} ${status}${error === undefined ? '' : `: ${toPrintable(error)}`}`];
  lines.push(`${completed} of ${total} items completed, ${failed} failed`);
  for (const item of failures) lines.push(`  ${toPrintable(item.itemId)}: ${toPrintable(item.error)}`);
  if (failed > failures.length) lines.push(`  and ${failed - failures.length} more`);
  lines.push(`results: ${toPrintable(outputPath)}`);
  return `${lines.join('\n')}\n`;
}
