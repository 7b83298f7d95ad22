export { type Clock, type ClockTimer, systemClock } from './clock.js';
export type {
  ConfigurationLayer,
  ConfigurationSource,
  ServerConfiguration,
} from './configuration.js';
export type { CapabilityName } from './dialects/exec/capability-gates.js';
export { createExecServer, type ExecServer, type ExecServerOptions } from './exec-server.js';
export * from './listen/index.js';
export { type CgroupSupport, probeCgroups } from './native/cgroup/cgroup-home.js';
export { type NativeLauncherSupport, probeNativeLauncher } from './native/launcher.js';
export { resolveLimits, type ServerLimitOptions, type ServerLimits, serverLimitsSchema } from './options.js';
export type { BackendChoice, BackendName } from './sandbox/backend.js';
export { BACKEND_CHOICES } from './sandbox/backend.js';
export { type BackendDescription, describeBackends } from './sandbox/backends.js';
export * from './telemetry/index.js';
export { VERSION } from './version.js';
