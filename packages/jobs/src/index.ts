export { JobError, type JobErrorCode } from './errors.js';
export { serveJob } from './local-server/serve-job.js';
export { toCsv, toJsonl } from './output/export-job.js';
export { OUTPUT_COLUMNS } from './output/output-columns.js';
export { type ReportAnswer, type ReportRequest, submitReport } from './results/submit-report.js';
export type { Row } from './rows/row.js';
export {
  cancelJob,
  type JobProgress,
  JobRun,
  type JobSummary,
  type RunJobOptions,
  type RunnerOptions,
  resumeJob,
  runJob,
} from './run/job-run.js';
export type { ItemEvent, RunningItem } from './run/job-runner.js';
export type { CreateJobOptions } from './store/create-job.js';
export { findJobsRoot } from './store/job-directory.js';
export type { JobSettings, MachineSettings } from './store/job-settings.js';
