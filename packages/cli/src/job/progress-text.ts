import type { JobProgress } from '@exec-server/jobs';

const BAR_WIDTH = 20;

/** How far a job is, in one line. */
export function toProgressLine(jobId: string, progress: JobProgress): string {
  const { total, completed, failed, running, pending, etaMs } = progress;
  const done = completed + failed;
  const share = total === 0 ? 1 : done / total;
  const filled = Math.floor(share * BAR_WIDTH);
  const bar = `${'#'.repeat(filled)}${'-'.repeat(BAR_WIDTH - filled)}`;
  const numbers = `${done}/${total} ${Math.floor(share * 100)}% f${failed} r${running} p${pending}`;
  return `job ${jobId.slice(0, 8)} [${bar}] ${numbers} eta ${toEtaText(etaMs)}`;
}

/** `12.00s`, `1m 15s`, or `--` where it is not known. */
export function toEtaText(etaMs: number | undefined): string {
  if (etaMs === undefined) return '--';
  if (etaMs < 60_000) return `${(etaMs / 1000).toFixed(2)}s`;
  const seconds = Math.round(etaMs / 1000);
  return `${Math.floor(seconds / 60)}m ${seconds % 60}s`;
}

/** The same for programs, with the names of the reference. */
export function toProgressJson(jobId: string, progress: JobProgress): string {
  const { total, completed, failed, running, pending, etaMs } = progress;
  return JSON.stringify({
    job_id: jobId,
    total_items: total,
    pending_items: pending,
    running_items: running,
    completed_items: completed,
    failed_items: failed,
    eta_seconds: etaMs === undefined ? null : etaMs / 1000,
  });
}
