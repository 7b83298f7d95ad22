import type { EnvironmentInfo } from '@exec-server/protocol';
import type { Transport } from '@exec-server/rpc';
import { type Clock, systemClock } from './clock.js';
import { describeOptions, type ServerConfiguration } from './configuration.js';
import { Connection } from './connection/connection.js';
import { CredentialWatch } from './connection/credential-watch.js';
import { InboundTotal } from './connection/inbound-total.js';
import { OutboundTotal } from './connection/outbound-total.js';
import { refuseConnection } from './connection/refuse-connection.js';
import { createAppDialect } from './dialects/app/table.js';
import { CapabilityGates, type CapabilityName } from './dialects/exec/capability-gates.js';
import { createExecDialect } from './dialects/exec/table.js';
import { createExecV0Dialect } from './dialects/exec-v0/table.js';
import { describeEnvironment, describeSandboxes } from './environment/info.js';
import { HttpClient } from './http/http-client.js';
import type { ListenOptions } from './listen/listen-options.js';
import type { ConnectionInfo, Listener } from './listen/listener.js';
import { openListener } from './listen/open-listener.js';
import { ANONYMOUS_PRINCIPAL, checkPrincipal, type Principal } from './listen/principal.js';
import { createLauncher } from './native/launcher.js';
import { NetworkProxies } from './network-proxy/network-proxies.js';
import { resolveLimits, type ServerLimitOptions } from './options.js';
import { ClosedProcesses } from './process/closed-processes.js';
import type { ProcessEngine } from './process/process-engine.js';
import { ProcessRegistry } from './process/process-registry.js';
import { SandboxBackends } from './sandbox/backends.js';
import { FileSandboxes } from './sandbox/files/file-sandboxes.js';
import { SessionRegistry } from './sessions/session-registry.js';
import { ShellSnapshots } from './shell-snapshot/shell-snapshots.js';
import { Screens } from './snapshot/screens.js';
import { type AuditLog, noAuditLog } from './telemetry/audit.js';
import { type Logger, silentLogger } from './telemetry/logger.js';
import { formatMetrics } from './telemetry/metrics/format-metrics.js';
import { measureOwnState, measureState } from './telemetry/metrics/measure-state.js';
import type { Metric } from './telemetry/metrics/metric.js';
import { collectOwn, ServerMetrics } from './telemetry/metrics/server-metrics.js';
import type { RequestObservers } from './telemetry/request-watch.js';
import { loadTracer } from './telemetry/tracing/load-tracer.js';
import { terminateOnSessionEnd } from './terminate/on-session-end.js';
import { terminateOnShutdown } from './terminate/on-shutdown.js';

/** What a server is made with. Everything has a default; nothing is global. */
export interface ExecServerOptions extends ServerLimitOptions {
  /** @default a logger that says nothing */
  readonly logger?: Logger;
  /** @default none */
  readonly auditLog?: AuditLog;
  /** Whether anything is counted, and told at `/metrics` of WebSocket listeners. @default true */
  readonly metrics?: boolean;
  /** @default the system's clock */
  readonly clock?: Clock;
  /**
   * Capabilities that this server does without: their methods are unknown to it and their members ignored.
   * @default none
   */
  readonly disabledCapabilities?: readonly CapabilityName[];
  /**
   * What clients are told when they ask for the server's settings.
   * @default the options given here, and the defaults of those that are not
   */
  readonly configuration?: ServerConfiguration;
  /**
   * Whether processes that lose their parents become children of this process, which then reaps them and, when the
   * server is closed, ends them. For a program that is nothing but a server: children that it starts itself in sessions
   * of their own, without a launcher of a server, cannot be told from these.
   * @default false
   */
  readonly subreaper?: boolean;
  /** The environment that children may inherit. @default this process's own */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** A running server. */
export interface ExecServer {
  /** Takes connections at `ws://IP:PORT`, `wss://IP:PORT`, `unix:///path` or `stdio`. */
  listen(url: string, options?: ListenOptions): Promise<Listener>;
  /** Serves one connection that the caller made itself. */
  accept(transport: Transport, info?: Partial<ConnectionInfo>): void;
  /** What the server has counted, and what it holds now; nothing if that is switched off. */
  metrics(): readonly Metric[];
  /** Takes no more connections, ends all sessions with their processes, and resolves when they are gone. */
  close(): Promise<void>;
}

/** Wires a server together. Several may live in one program. */
export function createExecServer(options: ExecServerOptions = {}): ExecServer {
  const {
    logger = silentLogger,
    auditLog = noAuditLog,
    metrics: hasMetrics = true,
    clock = systemClock,
    subreaper = false,
    env = process.env,
    disabledCapabilities = [],
    configuration = describeOptions(options),
    ...rest
  } = options;
  const limits = resolveLimits(rest);
  const metrics = hasMetrics ? new ServerMetrics() : undefined;
  const observers: RequestObservers = { metrics };
  const registry = new ProcessRegistry();
  const launcher = createLauncher({ logger, cgroups: limits.cgroups, subreaper });
  const gates = new CapabilityGates(new Set(disabledCapabilities));
  const description = describeEnvironment(env, limits);
  const sandboxes = new SandboxBackends(limits.sandboxBackend);
  let environmentInfo: EnvironmentInfo | undefined;
  const engine: ProcessEngine = {
    launcher,
    registry,
    closedProcesses: new ClosedProcesses(registry, clock, {
      retentionMs: limits.closedProcessRetentionMs,
      outputBytes: limits.closedProcessOutputBytes,
      count: limits.maxClosedProcesses,
    }),
    limits,
    clock,
    logger,
    auditLog,
    metrics,
    serverEnv: env,
    get environmentInfo() {
      environmentInfo ??= gates.describe(describeSandboxes(description, sandboxes.makesViews));
      return environmentInfo;
    },
    sandboxes,
    shellSnapshots: new ShellSnapshots({ launcher, clock, logger }),
    screens: new Screens({ clock, logger }),
    httpClient: new HttpClient(env),
    fileSandboxes: new FileSandboxes({ launcher, backends: sandboxes, clock, logger }),
    networkProxies: new NetworkProxies(env),
  };
  const sessions = new SessionRegistry({
    clock,
    processes: registry,
    detachedSessionMs: limits.detachedSessionMs,
    maxSessions: limits.maxSessions,
    logger,
    onOpen: () => metrics?.countSession(),
    onEnd: (ended, atOnce) => terminateOnSessionEnd(registry, ended, { clock, logger, atOnce }),
  });
  const dialects = {
    exec: createExecV0Dialect(createExecDialect({ engine, sessions, gates }), sessions),
    app: createAppDialect({ engine, sessions, configuration }),
  };
  const connections = new Set<Connection>();
  const outboundTotal = new OutboundTotal(connections, limits.outboundTotalBytes, logger);
  const inboundTotal = new InboundTotal(connections, limits.inboundTotalBytes);
  const listeners = new Set<Listener>();
  let acceptedConnections = 0;
  let closing: Promise<void> | undefined;

  const collectMetrics = () => metrics?.collect(measureState(engine, sessions, connections)) ?? [];

  const collectMetricsOf = (principal: Principal) =>
    collectOwn(measureOwnState(engine, sessions, connections, principal));

  const forgetConnection = (connection: Connection) => {
    connections.delete(connection);
    if (connection.traffic !== undefined) metrics?.keepTraffic(connection.traffic);
  };

  const findRefusal = () =>
    connections.size < limits.maxConnections
      ? undefined
      : `the server has its limit of ${limits.maxConnections} connections`;

  const serve = (transport: Transport, info: Partial<ConnectionInfo> & Pick<ConnectionInfo, 'principal'>) => {
    if (closing !== undefined) return transport.destroy('the server is closing');
    const { remote = transport.label, resumable = true } = info;
    const refusal = findRefusal();
    if (refusal !== undefined) {
      logger.warn({ remote, reason: refusal }, 'refused a connection');
      return refuseConnection(transport, refusal);
    }
    metrics?.countConnection();
    const connection = new Connection(
      transport,
      ++acceptedConnections,
      { ...info, remote, resumable },
      {
        engine,
        dialects,
        logger,
        observers,
        onQueued: (change) => outboundTotal.add(change),
        onHeld: (change) => inboundTotal.add(change),
        onClosed: forgetConnection,
      },
    );
    connections.add(connection);
    if (info.credentialLeftMs !== undefined) {
      const expire = () => connection.revoke('the token has expired; connect again with a new one');
      const watch = new CredentialWatch(info.credentialLeftMs, clock, expire);
      void connection.closed.then(() => watch.stop());
    }
  };

  const accept = (transport: Transport, info: Partial<ConnectionInfo> = {}) => {
    const checked = { ...info, principal: checkPrincipal(info.principal ?? ANONYMOUS_PRINCIPAL) };
    if (sandboxes.isReady) return serve(transport, checked);
    // The first answer says what works here. A transport keeps what comes before somebody opens it.
    void sandboxes.ready.then(() => serve(transport, checked));
  };

  const close = async () => {
    await Promise.all([...listeners].map((listener) => listener.close()));
    for (const connection of connections) connection.close('the server is shutting down');
    const graceMs = limits.shutdownGraceMs;
    await terminateOnShutdown(sessions, registry, { launcher, clock, logger, graceMs });
    engine.screens.close();
    await engine.fileSandboxes.close();
    await launcher.close();
    metrics?.[Symbol.dispose]();
  };

  return {
    async listen(url, listenOptions = {}) {
      observers.tracer ??= await loadTracer();
      const surface = metrics && {
        metrics: (about: Principal | 'everybody') =>
          formatMetrics(about === 'everybody' ? collectMetrics() : collectMetricsOf(about)),
        onRefused: (status: number) => metrics.countRefusedConnection(status),
      };
      const listener = await openListener(
        url,
        { clock, logger, findRefusal, ...surface, ...listenOptions },
        accept,
      );
      listeners.add(listener);
      return listener;
    },
    accept,
    metrics: collectMetrics,
    close: () => (closing ??= close()),
  };
}
