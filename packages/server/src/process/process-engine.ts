import type { EnvironmentInfo } from '@exec-server/protocol';
import type { Clock } from '../clock.js';
import type { HttpClient } from '../http/http-client.js';
import type { Launcher } from '../native/launch.js';
import type { ServerLimits } from '../options.js';
import type { Session } from '../sessions/session.js';
import type { ShellSnapshots } from '../shell-snapshot/shell-snapshots.js';
import type { AuditLog } from '../telemetry/audit.js';
import type { Logger } from '../telemetry/logger.js';
import type { ManagedProcess } from './managed-process.js';
import type { ProcessRegistry, ProcessSlot } from './process-registry.js';

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
  readonly shellSnapshots: ShellSnapshots;
  /** What this machine tells about itself. */
  readonly environmentInfo: EnvironmentInfo;
  readonly httpClient: HttpClient;
}

/** The caller's process, or the slot of one that is still starting. */
export function findSlot(
  engine: ProcessEngine,
  session: Session,
  processId: string,
): ProcessSlot | undefined {
  return engine.registry.find(session.id, processId);
}

/** The caller's process once its own start is over; absent when there is none. Waits for nothing else. */
export async function findStarted(
  engine: ProcessEngine,
  session: Session,
  processId: string,
): Promise<ManagedProcess | undefined> {
  const slot = findSlot(engine, session, processId);
  if (slot !== undefined && slot.process === undefined) await slot.settled;
  return slot?.process;
}
