import { isSamePrincipal, type Principal } from '../../listen/principal.js';
import type { ManagedProcess } from '../../process/managed-process.js';
import type { ProcessEngine } from '../../process/process-engine.js';
import type { SessionRegistry } from '../../sessions/session-registry.js';
import type { OwnState, ServerState, Traffic } from './server-metrics.js';

/** What of a connection is measured. */
interface MeasuredConnection {
  readonly principal: Principal;
  readonly pendingRequests: number;
  readonly outboundBytes: number;
  readonly traffic: Traffic | undefined;
}

/** Looks at everything that a server holds now, so that nothing has to be counted while it works. */
export function measureState(
  { registry, closedProcesses }: Pick<ProcessEngine, 'registry' | 'closedProcesses'>,
  sessions: Pick<SessionRegistry, 'size' | 'detachedCount'>,
  connections: ReadonlySet<MeasuredConnection>,
): ServerState {
  const open = [...connections];
  return {
    ...measureQueues(open, registry.processes()),
    connections: open.length,
    sessions: { attached: sessions.size - sessions.detachedCount, detached: sessions.detachedCount },
    processes: { running: registry.runningCount, closed: closedProcesses.count },
    closedOutputBytes: closedProcesses.bytes,
    traffic: {
      receivedBytes: sum(open, ({ traffic }) => traffic?.receivedBytes ?? 0),
      sentBytes: sum(open, ({ traffic }) => traffic?.sentBytes ?? 0),
    },
  };
}

/** The same as far as one principal has to do with it, and nobody else. */
export function measureOwnState(
  { registry, closedProcesses }: Pick<ProcessEngine, 'registry' | 'closedProcesses'>,
  sessions: Pick<SessionRegistry, 'countFor'>,
  connections: ReadonlySet<MeasuredConnection>,
  principal: Principal,
): OwnState {
  const own = [...connections].filter((connection) => isSamePrincipal(connection.principal, principal));
  const closed = closedProcesses.measureFor(principal);
  const processes = registry.visibleTo({ principal }).map(({ process }) => process);
  return {
    ...measureQueues(own, processes),
    connections: own.length,
    sessions: sessions.countFor(principal),
    processes: { running: registry.runningCountFor(principal), closed: closed.count },
    closedOutputBytes: closed.bytes,
  };
}

function measureQueues(connections: readonly MeasuredConnection[], processes: Iterable<ManagedProcess>) {
  const inputs = Array.from(processes, ({ stdin }) => stdin);
  return {
    pendingRequests: sum(connections, ({ pendingRequests }) => pendingRequests),
    outboundBytes: sum(connections, ({ outboundBytes }) => outboundBytes),
    stdinBytes: sum(inputs, (stdin) => stdin?.queuedBytes ?? 0),
    waitingStdinWrites: sum(inputs, (stdin) => stdin?.waitingWrites ?? 0),
  };
}

function sum<T>(items: readonly T[], amount: (item: T) => number): number {
  return items.reduce((total, item) => total + amount(item), 0);
}
