export { type AuditEvent, type AuditLog, type AuditSubject, noAuditLog } from './audit.js';
export {
  type CreateLoggerOptions,
  createLogger,
  createStderrDestination,
  LOG_FORMATS,
  LOG_LEVELS,
  type LogDestination,
  type LogFormat,
  type LogLevel,
} from './create-logger.js';
export { AuditLogError, createFileAuditLog, type FileAuditLogOptions } from './file-audit-log.js';
export { type Logger, silentLogger } from './logger.js';
export { formatMetrics, METRICS_CONTENT_TYPE } from './metrics/format-metrics.js';
export type { HistogramSample, Metric, MetricSample } from './metrics/metric.js';
export type { Traffic } from './metrics/server-metrics.js';
