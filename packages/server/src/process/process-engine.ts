import type { EnvironmentInfo } from '@exec-server/protocol';
import type { Clock } from '../clock.js';
import type { HttpClient } from '../http/http-client.js';
import type { Launcher } from '../native/launch.js';
import type { ServerLimits } from '../options.js';
import type { AuditLog } from '../telemetry/audit.js';
import type { Logger } from '../telemetry/logger.js';
import type { ManagedProcess } from './managed-process.js';
import type { ProcessRegistry } from './process-registry.js';

/** What every operation on processes works with. */
export interface ProcessEngine {
  readonly launcher: Launcher;
  readonly registry: ProcessRegistry;
  readonly limits: ServerLimits;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly auditLog: AuditLog;
  /** The server's own environment, which policies inherit from. */
  readonly serverEnv: Readonly<Record<string, string | undefined>>;
  /** What this machine tells about itself. */
  readonly environmentInfo: EnvironmentInfo;
  readonly httpClient: HttpClient;
}

/** The session's process once its own start is over; absent when there is none. Waits for nothing else. */
export async function findStarted(
  { registry }: ProcessEngine,
  sessionId: string,
  processId: string,
): Promise<ManagedProcess | undefined> {
  const slot = registry.find(sessionId, processId);
  if (slot !== undefined && slot.process === undefined) await slot.settled;
  return slot?.process;
}
