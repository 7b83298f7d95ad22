import {
  decodeParams,
  isMethod,
  METHODS,
  type MethodName,
  methodNotFound,
  type ParamsOf,
  type ResultOf,
} from '@exec-server/protocol';
import type { FileAccess } from '../../connection/file-order.js';
import { findCachedEntry } from '../../fs/cached-entry.js';
import type { Dialect, DialectMethod, EncodedResponse, HandlerContext, LargeResponse } from '../dialect.js';
import { discoverCapabilities, discoverCapabilityRoots } from './capabilities.js';
import type { CapabilityGates } from './capability-gates.js';
import { isHelperMethod } from './confined/helper-methods.js';
import { confineHandler } from './confined/run-confined.js';
import { ExecConversation, type ExecServices } from './conversation.js';
import { readEnvironmentInfo, readEnvironmentStatus } from './environment.js';
import { readEnvironmentConfig } from './environment-config.js';
import { canonicalizePath } from './fs-canonicalize.js';
import { copyPath } from './fs-copy.js';
import { createDirectory } from './fs-create-directory.js';
import { getMetadata } from './fs-get-metadata.js';
import { closeFile, openFile, readBlock, writeBlock } from './fs-handles.js';
import { createSymlink, readLink } from './fs-links.js';
import { readDirectory } from './fs-read-directory.js';
import { readFile } from './fs-read-file.js';
import { removePath } from './fs-remove.js';
import { renamePath } from './fs-rename.js';
import { setMode } from './fs-set-mode.js';
import { walkTree } from './fs-walk.js';
import { unwatchPath, watchPath } from './fs-watch.js';
import { watchMissing } from './fs-watch-missing.js';
import { writeFile } from './fs-write-file.js';
import { cancelHttp, requestHttp } from './http.js';
import { acceptNativePaths } from './native-paths.js';
import { waitForPort } from './net.js';
import { attachProcess, detachProcess } from './process-attach.js';
import { holdProcess } from './process-hold.js';
import { listProcesses } from './process-list.js';
import { readProcess } from './process-read.js';
import { removeProcess } from './process-remove.js';
import { resizeProcess } from './process-resize.js';
import { signalProcess } from './process-signal.js';
import { snapshotProcess } from './process-snapshot.js';
import { startProcess } from './process-start.js';
import { startPreparedProcess } from './process-start-prepared.js';
import { terminateProcess } from './process-terminate.js';
import { waitForProcess } from './process-wait.js';
import { closeProcessStdin, writeProcess } from './process-write.js';
import { endSession } from './session-end.js';

type Handlers = {
  readonly [M in MethodName]?: (
    params: ParamsOf<M>,
    context: HandlerContext,
  ) => ResultOf<M> | Promise<ResultOf<M> | EncodedResponse | LargeResponse>;
};

interface ErasedEntry {
  readonly family: string;
  readonly lane: string;
  readonly params: Parameters<typeof decodeParams>[0];
}

/** Who answers what. A method of the wire that is missing here is answered like an unknown one. */
const HANDLERS: Handlers = {
  'process/start': startProcess,
  'process/startPrepared': startPreparedProcess,
  'process/read': readProcess,
  'process/write': writeProcess,
  'process/signal': signalProcess,
  'process/terminate': terminateProcess,
  'process/closeStdin': closeProcessStdin,
  'process/remove': removeProcess,
  'process/resize': resizeProcess,
  'process/hold': holdProcess,
  'process/wait': waitForProcess,
  'process/list': listProcesses,
  'process/attach': attachProcess,
  'process/detach': detachProcess,
  'process/snapshot': snapshotProcess,
  'session/end': endSession,
  'net/waitForPort': waitForPort,
  'http/request': requestHttp,
  'http/cancel': cancelHttp,
  'fs/readFile': readFile,
  'fs/writeFile': writeFile,
  'fs/createDirectory': createDirectory,
  'fs/getMetadata': (params) => getMetadata(params, findCachedEntry),
  'fs/canonicalize': canonicalizePath,
  'fs/readDirectory': readDirectory,
  'fs/walk': walkTree,
  'fs/remove': removePath,
  'fs/copy': copyPath,
  'fs/rename': renamePath,
  'fs/setMode': setMode,
  'fs/readLink': readLink,
  'fs/symlink': createSymlink,
  'fs/open': openFile,
  'fs/readBlock': readBlock,
  'fs/writeBlock': writeBlock,
  'fs/close': closeFile,
  'fs/watchMissing': watchMissing,
  'fs/watch': watchPath,
  'fs/unwatch': unwatchPath,
  'environment/info': readEnvironmentInfo,
  'environment/status': readEnvironmentStatus,
  'environmentConfig/read': readEnvironmentConfig,
  'capabilityRoots/discoverV1': discoverCapabilityRoots,
  'capabilities/discoverV2': discoverCapabilities,
};

type Names = { readonly [M in MethodName]?: (params: ParamsOf<M>) => string };

const attachmentName = ({
  processId,
  sessionId,
}: {
  readonly processId: string;
  readonly sessionId?: string | undefined;
}) => `attachment ${JSON.stringify([sessionId, processId])}`;

/** Requests that make something, and how it is called. */
const OPENINGS: Names = {
  'process/attach': attachmentName,
  'process/start': ({ processId }) => `process ${processId}`,
  'process/startPrepared': ({ processId }) => `process ${processId}`,
  'http/request': ({ requestId }) => `http ${requestId}`,
};

const processName = ({ processId }: { readonly processId: string }) => `process ${processId}`;

/** Requests about something that may still be in the making: they overtake others, or it waits for something. */
const FOLLOWERS: Names = {
  'process/closeStdin': processName,
  'process/detach': attachmentName,
  'process/hold': processName,
  'process/read': processName,
  'process/remove': processName,
  'process/resize': processName,
  'process/signal': processName,
  'process/snapshot': processName,
  'process/terminate': processName,
  'process/wait': processName,
  'process/write': processName,
  'http/cancel': ({ requestId }) => `http ${requestId}`,
};

type Accesses = { readonly [M in MethodName]?: (params: ParamsOf<M>) => FileAccess };

const reads = () => 'reads' as const;
const changes = () => 'changes' as const;

/** What requests do to files. Open handles keep their own order. */
const FILES: Accesses = {
  'fs/canonicalize': reads,
  'fs/copy': changes,
  'fs/createDirectory': changes,
  'fs/getMetadata': reads,
  'fs/open': ({ mode }) => (mode === 'replace' ? 'changes' : 'reads'),
  'fs/readDirectory': reads,
  'fs/readFile': reads,
  'fs/readLink': reads,
  'fs/remove': changes,
  'fs/rename': changes,
  'fs/setMode': changes,
  'fs/symlink': changes,
  'fs/walk': reads,
  'fs/watch': reads,
  'fs/watchMissing': reads,
  'fs/writeFile': changes,
  'process/start': reads,
  'process/startPrepared': reads,
};

/** The current protocol: `process/*`, `environment/*` and their families, as far as the gates are open. */
export function createExecDialect(services: Omit<ExecServices, 'methods'>): Dialect {
  const { engine, gates } = services;
  const adapt = engine.limits.acceptNativePaths ? acceptNativePaths : undefined;
  const methods = new Map<string, DialectMethod>();
  for (const name of Object.keys(METHODS).filter(isMethod)) {
    if (name !== 'initialize' && gates.hasMethod(name)) methods.set(name, describeMethod(name, gates, adapt));
  }
  return { converse: (host) => new ExecConversation(host, { ...services, methods }) };
}

/** @param adapt makes params of this generation from those of an older one */
function describeMethod(
  name: Exclude<MethodName, 'initialize'>,
  gates: CapabilityGates,
  adapt: (params: unknown) => unknown = (value) => value,
): DialectMethod {
  // Which params belong to which handler is settled above; from here on they are just values.
  const { family, lane, params } = METHODS[name] as ErasedEntry;
  const open = HANDLERS[name] as ((params: unknown, context: HandlerContext) => unknown) | undefined;
  const findAccess = FILES[name];
  const handler = open && findAccess && isHelperMethod(name) ? confineHandler(name, findAccess, open) : open;
  return {
    family,
    lane: lane === 'control' ? 'control' : 'ordinary',
    opens: OPENINGS[name] as DialectMethod['opens'],
    follows: FOLLOWERS[name] as DialectMethod['follows'],
    files: findAccess as DialectMethod['files'],
    decode: (value) => {
      const decoded = decodeParams(params, gates.filterParams(name, adapt(value)));
      gates.checkSignal(name, decoded);
      return decoded;
    },
    handle: (decoded, context) => {
      if (handler === undefined) throw methodNotFound(name);
      return handler(decoded, context);
    },
  };
}
