import type { ProcessEngine } from '../../process/process-engine.js';
import type { SessionRegistry } from '../../sessions/session-registry.js';
import type { ServerState, Traffic } from './server-metrics.js';

/** What of a connection is measured. */
interface MeasuredConnection {
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
  const inputs = Array.from(registry.processes(), ({ stdin }) => stdin);
  return {
    connections: open.length,
    sessions: { attached: sessions.size - sessions.detachedCount, detached: sessions.detachedCount },
    processes: { running: registry.runningCount, closed: closedProcesses.count },
    pendingRequests: sum(open, ({ pendingRequests }) => pendingRequests),
    outboundBytes: sum(open, ({ outboundBytes }) => outboundBytes),
    stdinBytes: sum(inputs, (stdin) => stdin?.queuedBytes ?? 0),
    waitingStdinWrites: sum(inputs, (stdin) => stdin?.waitingWrites ?? 0),
    closedOutputBytes: closedProcesses.bytes,
    traffic: {
      receivedBytes: sum(open, ({ traffic }) => traffic?.receivedBytes ?? 0),
      sentBytes: sum(open, ({ traffic }) => traffic?.sentBytes ?? 0),
    },
  };
}

function sum<T>(items: readonly T[], amount: (item: T) => number): number {
  return items.reduce((total, item) => total + amount(item), 0);
}
