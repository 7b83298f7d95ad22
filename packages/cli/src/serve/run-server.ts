import {
  createExecServer,
  createFileAuditLog,
  createLogger,
  createStderrDestination,
  type ExecServer,
  type Listener,
  type Logger,
} from '@exec-server/server';
import type { CommandIo } from '../command-io.js';
import { announce } from './announce.js';
import { HeldDestination } from './held-destination.js';
import { type PlannedListener, planListeners } from './plan-listeners.js';
import type { ServeSettings } from './settings.js';
import { type EndWatch, watchForEnd } from './watch-for-end.js';

/** Time for an orderly end, whatever hangs. With the flush of the output after it the exit comes within 2 seconds. */
const SHUTDOWN_DEADLINE_MS = 1_600;

/** Serves until there is a reason to end and resolves with the exit code. Rejects when the server cannot start. */
export async function runServer(settings: ServeSettings, io: CommandIo): Promise<number> {
  const log = new HeldDestination(createStderrDestination(io.stderr));
  const logger = createLogger({
    level: settings.logLevel ?? 'warn',
    format: settings.logFormat ?? (io.stderr.isTTY ? 'pretty' : 'json'),
    colors: io.stderr.isTTY === true,
    destination: log,
  });
  const watch = watchForEnd(io, logger);
  try {
    const server = await startServer(settings, { io, log, logger, watch });
    const exitCode = await watch.end;
    const deadline = setTimeout(() => io.exit(exitCode), SHUTDOWN_DEADLINE_MS);
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
}

async function startServer(
  settings: ServeSettings,
  { io, log, logger, watch }: StartContext,
): Promise<ExecServer> {
  try {
    const plan = planListeners(settings);
    const server = createServer(settings, logger);
    const listeners = await openListeners(server, plan);
    for (const listener of listeners) watch.endWith(listener);
    announce(io, { urls: listeners.map(({ url }) => url), needsToken: settings.wsAuth !== undefined });
    return server;
  } finally {
    log.release();
  }
}

function createServer(settings: ServeSettings, logger: Logger): ExecServer {
  const { concurrentRequests, detachedSessionMs, auditLog } = settings;
  return createExecServer({
    logger,
    ...(concurrentRequests !== undefined && { concurrentRequests }),
    ...(detachedSessionMs !== undefined && { detachedSessionMs }),
    ...(auditLog !== undefined && { auditLog: createFileAuditLog(auditLog, { logger }) }),
  });
}

/** One after the other, so that the banner has the order of the command line. All or none. */
async function openListeners(server: ExecServer, plan: readonly PlannedListener[]): Promise<Listener[]> {
  const listeners: Listener[] = [];
  try {
    for (const { url, options } of plan) listeners.push(await server.listen(url, options));
    return listeners;
  } catch (error) {
    await server.close();
    throw error;
  }
}
