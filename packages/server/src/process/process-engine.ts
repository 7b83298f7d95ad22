import type { EnvironmentInfo } from '@exec-server/protocol';
import type { Clock } from '../clock.js';
import type { HttpClient } from '../http/http-client.js';
import type { Launcher } from '../native/launch.js';
import type { NetworkProxies } from '../network-proxy/network-proxies.js';
import type { ServerLimits } from '../options.js';
import type { SandboxBackends } from '../sandbox/backends.js';
import type { FileSandboxes } from '../sandbox/files/file-sandboxes.js';
import type { ShellSnapshots } from '../shell-snapshot/shell-snapshots.js';
import type { Screens } from '../snapshot/screens.js';
import type { AuditLog } from '../telemetry/audit.js';
import type { Logger } from '../telemetry/logger.js';
import type { ServerMetrics } from '../telemetry/metrics/server-metrics.js';
import type { ClosedProcesses } from './closed-processes.js';
import type { ProcessRegistry } from './process-registry.js';

/** What every operation on processes works with. */
export interface ProcessEngine {
  readonly launcher: Launcher;
  readonly registry: ProcessRegistry;
  readonly closedProcesses: ClosedProcesses;
  readonly limits: ServerLimits;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly auditLog: AuditLog;
  /** Absent when nothing is counted. */
  readonly metrics: ServerMetrics | undefined;
  /** The server's own environment, which policies inherit from. */
  readonly serverEnv: Readonly<Record<string, string | undefined>>;
  readonly shellSnapshots: ShellSnapshots;
  /** What terminals show. */
  readonly screens: Screens;
  /** What this machine tells about itself. */
  readonly environmentInfo: EnvironmentInfo;
  readonly httpClient: HttpClient;
  readonly sandboxes: SandboxBackends;
  readonly fileSandboxes: FileSandboxes;
  readonly networkProxies: NetworkProxies;
}
