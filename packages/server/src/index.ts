export { type Clock, type ClockTimer, systemClock } from './clock.js';
export { createExecServer, type ExecServer, type ExecServerOptions } from './exec-server.js';
export { type ConnectionInfo, type Listener } from './listen/listener.js';
export type { ListenOptions } from './listen/open-listener.js';
export { type ServerLimitOptions, type ServerLimits, serverLimitsSchema } from './options.js';
export type { AuditEvent, AuditLog } from './telemetry/audit.js';
export { type Logger, silentLogger } from './telemetry/logger.js';
export { VERSION } from './version.js';
