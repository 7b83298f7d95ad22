export { JobError, type JobErrorCode } from './errors.js';
export { serveJob } from './local-server/serve-job.js';
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
export type { LogRecord } from './run/worker-log.js';
export type { CreateJobOptions } from './store/create-job.js';
export {
  describeJob,
  exportJob,
  type JobDescription,
  type LogOptions,
  listJobs,
  readLog,
  streamJob,
} from './store/inspect-job.js';
export { findJobsRoot } from './store/job-directory.js';
export type { JobSettings, MachineSettings } from './store/job-settings.js';
export type { ItemCounts } from './store/job-state.js';
export type { ItemStatus, JobStatus, Result } from './store/journal-entry.js';
export { findJob } from './store/stored-job.js';
