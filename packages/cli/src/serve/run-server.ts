import {
  type CapabilityName,
  createExecServer,
  createFileAuditLog,
  createLogger,
  createStderrDestination,
  type ExecServer,
  type Listener,
  type Logger,
  resolveLimits,
  type ServerConfiguration,
  type ServerLimitOptions,
  type ServerLimits,
} from '@exec-server/server';
import type { CommandIo } from '../command-io.js';
import { announce } from './announce.js';
import { HeldDestination } from './held-destination.js';
import { type PlannedListener, planListeners } from './plan-listeners.js';
import { OPTION_NAMES, SERVER_SETTINGS, type ServeSettings } from './settings.js';
import { type EndWatch, watchForEnd } from './watch-for-end.js';
import { holdYoungGeneration } from './young-generation.js';

/** What an orderly end may take beyond the time for the processes, whatever hangs. */
const SHUTDOWN_MARGIN_MS = 100;
/** Longest delay that the platform's timers take; longer ones would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Serves until there is a reason to end and resolves with the exit code. Rejects when the server cannot start. */
export async function runServer(
  settings: ServeSettings,
  io: CommandIo,
  configuration: ServerConfiguration,
): Promise<number> {
  const log = new HeldDestination(createStderrDestination(io.stderr));
  const logger = createLogger({
    level: settings.logLevel ?? 'warn',
    format: settings.logFormat ?? (io.stderr.isTTY ? 'pretty' : 'json'),
    colors: io.stderr.isTTY === true,
    destination: log,
  });
  const limits = resolveLimits(serverSettingsOf(settings));
  const watch = watchForEnd(io, logger);
  try {
    const server = await startServer(settings, { io, log, logger, watch, limits, configuration });
    const releaseYoungGeneration = holdYoungGeneration();
    const exitCode = await watch.end;
    releaseYoungGeneration();
    const deadlineMs = Math.min(limits.shutdownGraceMs + SHUTDOWN_MARGIN_MS, MAX_TIMER_MS);
    const deadline = setTimeout(() => io.exit(exitCode), deadlineMs);
    await server.close();
    clearTimeout(deadline);
    return exitCode;
  } finally {
    watch.stop();
  }
}

interface StartContext {
  readonly io: CommandIo;
  readonly log: HeldDestination;
  readonly logger: Logger;
  readonly watch: EndWatch;
  readonly limits: ServerLimits;
  readonly configuration: ServerConfiguration;
}

async function startServer(settings: ServeSettings, context: StartContext): Promise<ExecServer> {
  const { io, log, watch } = context;
  try {
    const plan = planListeners(settings);
    const server = createServer(settings, context);
    const listeners = await openListeners(server, plan);
    for (const listener of listeners) watch.endWith(listener);
    announce(io, { urls: listeners.map(({ url }) => url), needsToken: settings.wsAuth !== undefined });
    return server;
  } finally {
    log.release();
  }
}

function createServer(
  { auditLog, disableCapability = [], metrics = true }: ServeSettings,
  { logger, limits, configuration }: StartContext,
): ExecServer {
  return createExecServer({
    logger,
    ...limits,
    // This process is nothing but a server.
    subreaper: true,
    configuration,
    metrics,
    // Names that are none are refused by the server, which knows them.
    disabledCapabilities: disableCapability as CapabilityName[],
    ...(auditLog !== undefined && { auditLog: createFileAuditLog(auditLog, { logger }) }),
  });
}

/** The settings that the server itself knows, as it names them. */
function serverSettingsOf(settings: ServeSettings): ServerLimitOptions {
  const names = Object.keys(SERVER_SETTINGS) as (keyof typeof SERVER_SETTINGS)[];
  const given = names.filter((name) => settings[name] !== undefined);
  return Object.fromEntries(given.map((name) => [OPTION_NAMES[name] ?? name, settings[name]]));
}

/**
 * Unix sockets first: a confined program that an early client starts must not be older than the socket that is hidden from
 * it. Answers in the order of the plan. All or none.
 */
async function openListeners(server: ExecServer, plan: readonly PlannedListener[]): Promise<Listener[]> {
  const isSocket = ({ url }: PlannedListener) => url.startsWith('unix:');
  const opened = new Map<PlannedListener, Listener>();
  try {
    for (const planned of [...plan].sort((a, b) => Number(isSocket(b)) - Number(isSocket(a))))
      opened.set(planned, await server.listen(planned.url, planned.options));
    return plan.flatMap((planned) => opened.get(planned) ?? []);
  } catch (error) {
    await server.close();
    throw error;
  }
}
