import * as z from 'zod/mini';
import { unit } from './fields.js';
import * as capabilities from './schemas/capabilities.js';
import { EnvironmentInfo, EnvironmentStatusResult } from './schemas/environment.js';
import { EnvironmentConfigReadParams, EnvironmentConfigReadResult } from './schemas/environment-config.js';
import * as fs from './schemas/fs.js';
import { FsChangedNotification, FsUnwatchParams, FsWatchParams } from './schemas/fs-watch.js';
import { InitializeParams, InitializeResult } from './schemas/handshake.js';
import * as http from './schemas/http.js';
import * as network from './schemas/network.js';
import * as process from './schemas/process.js';
import * as processControl from './schemas/process-control.js';
import * as processPrepared from './schemas/process-prepared.js';

/** Words that stand for a group of methods in `client must call initialize before using <family> methods`. */
export type Family =
  | 'handshake'
  | 'exec'
  | 'filesystem'
  | 'http'
  | 'network'
  | 'environment info'
  | 'environment status'
  | 'environment config'
  | 'capability discovery';

/**
 * How a request is scheduled: the handshake alone and in line, control requests past all others, the rest as many at a
 * time as the connection allows.
 */
export type Lane = 'handshake' | 'control' | 'ordinary';

export interface Method<P extends z.ZodMiniType = z.ZodMiniType, R extends z.ZodMiniType = z.ZodMiniType> {
  readonly family: Family;
  readonly lane: Lane;
  readonly params: P;
  readonly result: R;
}

export interface Notification<P extends z.ZodMiniType = z.ZodMiniType> {
  readonly params: P;
}

export interface ServerRequest<
  P extends z.ZodMiniType = z.ZodMiniType,
  R extends z.ZodMiniType = z.ZodMiniType,
> {
  readonly params: P;
  readonly result: R;
}

const inLane =
  (lane: Lane) =>
  <P extends z.ZodMiniType, R extends z.ZodMiniType>(family: Family, params: P, result: R): Method<P, R> => ({
    family,
    lane,
    params,
    result,
  });

const handshake = inLane('handshake');
const control = inLane('control');
const ordinary = inLane('ordinary');

/** Requests from client to server. */
export const METHODS = {
  initialize: handshake('handshake', InitializeParams, InitializeResult),

  'environment/info': control('environment info', unit(), EnvironmentInfo),
  'environment/status': control('environment status', unit(), EnvironmentStatusResult),
  'environmentConfig/read': ordinary(
    'environment config',
    EnvironmentConfigReadParams,
    EnvironmentConfigReadResult,
  ),

  'process/start': ordinary('exec', process.ProcessStartParams, process.ProcessStartResult),
  'process/startPrepared': ordinary(
    'exec',
    processPrepared.ProcessStartPreparedParams,
    processPrepared.ProcessStartPreparedResult,
  ),
  'process/read': ordinary('exec', process.ProcessReadParams, process.ProcessReadResult),
  'process/write': ordinary('exec', process.ProcessWriteParams, process.ProcessWriteResult),
  'process/signal': control('exec', process.ProcessSignalParams, process.ProcessSignalResult),
  'process/terminate': control('exec', process.ProcessTerminateParams, process.ProcessTerminateResult),
  'process/closeStdin': ordinary(
    'exec',
    processControl.ProcessCloseStdinParams,
    processControl.ProcessCloseStdinResult,
  ),
  'process/resize': control('exec', processControl.ProcessResizeParams, processControl.ProcessResizeResult),
  'process/hold': control('exec', processControl.ProcessHoldParams, processControl.ProcessHoldResult),
  'process/remove': ordinary('exec', processControl.ProcessRemoveParams, processControl.ProcessRemoveResult),
  'session/end': control('exec', processControl.SessionEndParams, processControl.SessionEndResult),
  'process/wait': ordinary('exec', processControl.ProcessWaitParams, processControl.ProcessWaitResult),
  'process/snapshot': ordinary(
    'exec',
    processControl.ProcessSnapshotParams,
    processControl.ProcessSnapshotResult,
  ),
  'process/attach': ordinary('exec', processControl.ProcessAttachParams, processControl.ProcessAttachResult),
  'process/detach': control('exec', processControl.ProcessDetachParams, processControl.ProcessDetachResult),
  'process/list': ordinary('exec', processControl.ProcessListParams, processControl.ProcessListResult),
  'net/waitForPort': ordinary(
    'network',
    processControl.NetWaitForPortParams,
    processControl.NetWaitForPortResult,
  ),

  'fs/readFile': ordinary('filesystem', fs.FsReadFileParams, fs.FsReadFileResult),
  'fs/writeFile': ordinary('filesystem', fs.FsWriteFileParams, fs.FsEmptyResult),
  'fs/open': ordinary('filesystem', fs.FsOpenParams, fs.FsOpenResult),
  'fs/readBlock': ordinary('filesystem', fs.FsReadBlockParams, fs.FsReadBlockResult),
  'fs/writeBlock': ordinary('filesystem', fs.FsWriteBlockParams, fs.FsEmptyResult),
  // Not control, which would let it overtake the writes that were sent before it.
  'fs/close': ordinary('filesystem', fs.FsCloseParams, fs.FsEmptyResult),
  'fs/createDirectory': ordinary('filesystem', fs.FsCreateDirectoryParams, fs.FsEmptyResult),
  'fs/getMetadata': ordinary('filesystem', fs.FsGetMetadataParams, fs.FsGetMetadataResult),
  'fs/canonicalize': ordinary('filesystem', fs.FsCanonicalizeParams, fs.FsCanonicalizeResult),
  'fs/readDirectory': ordinary('filesystem', fs.FsReadDirectoryParams, fs.FsReadDirectoryResult),
  'fs/walk': ordinary('filesystem', fs.FsWalkParams, fs.FsWalkResult),
  'fs/remove': ordinary('filesystem', fs.FsRemoveParams, fs.FsEmptyResult),
  'fs/copy': ordinary('filesystem', fs.FsCopyParams, fs.FsEmptyResult),
  'fs/rename': ordinary('filesystem', fs.FsRenameParams, fs.FsEmptyResult),
  'fs/setMode': ordinary('filesystem', fs.FsSetModeParams, fs.FsEmptyResult),
  'fs/readLink': ordinary('filesystem', fs.FsReadLinkParams, fs.FsReadLinkResult),
  'fs/symlink': ordinary('filesystem', fs.FsSymlinkParams, fs.FsEmptyResult),
  'fs/watchMissing': ordinary('filesystem', fs.FsWatchMissingParams, fs.FsWatchMissingResult),
  'fs/watch': ordinary('filesystem', FsWatchParams, fs.FsEmptyResult),
  'fs/unwatch': ordinary('filesystem', FsUnwatchParams, fs.FsEmptyResult),

  'http/request': ordinary('http', http.HttpRequestParams, http.HttpRequestResult),
  'http/cancel': control('http', http.HttpCancelParams, http.HttpCancelResult),

  'capabilityRoots/discoverV1': ordinary(
    'capability discovery',
    capabilities.CapabilityRootsDiscoverParams,
    capabilities.CapabilityRootsDiscoverResult,
  ),
  'capabilities/discoverV2': ordinary(
    'capability discovery',
    capabilities.CapabilitiesDiscoverParams,
    capabilities.CapabilitiesDiscoverResult,
  ),
} as const;

/** Notifications from client to server. */
export const CLIENT_NOTIFICATIONS = {
  initialized: { params: z.unknown() },
} as const satisfies Record<string, Notification>;

/** Notifications from server to client. */
export const SERVER_NOTIFICATIONS = {
  'process/output': { params: process.ProcessOutputNotification },
  'process/exited': { params: process.ProcessExitedNotification },
  'process/closed': { params: process.ProcessClosedNotification },
  'process/started': { params: process.ProcessStartedNotification },
  'process/failed': { params: process.ProcessFailedNotification },
  'process/lagged': { params: processControl.ProcessLaggedNotification },
  'http/request/bodyDelta': { params: http.HttpBodyDeltaNotification },
  'fs/changed': { params: FsChangedNotification },
  'fs/missingChanged': { params: fs.FsMissingChangedNotification },
  'network/policyDecision': { params: network.NetworkPolicyDecisionNotification },
} as const satisfies Record<string, Notification>;

/** Requests from server to client. */
export const SERVER_REQUESTS = {
  'client/status': { params: unit(), result: EnvironmentStatusResult },
  'network/policyRequest': {
    params: network.NetworkPolicyRequestParams,
    result: network.NetworkPolicyRequestResult,
  },
} as const satisfies Record<string, ServerRequest>;

export type MethodName = keyof typeof METHODS;
export type ParamsOf<M extends MethodName> = z.output<(typeof METHODS)[M]['params']>;
export type ResultOf<M extends MethodName> = z.output<(typeof METHODS)[M]['result']>;

/**
 * Methods that the reference does not have. To a client they exist from the answer to `initialize` on, which advertises
 * them; before it they are as unknown as they are there.
 */
export const EXTENSION_METHODS: ReadonlySet<string> = new Set<MethodName>([
  'fs/readLink',
  'fs/rename',
  'fs/setMode',
  'fs/symlink',
  'fs/watch',
  'fs/unwatch',
  'http/cancel',
  'net/waitForPort',
  'process/attach',
  'process/closeStdin',
  'process/detach',
  'process/hold',
  'process/list',
  'process/remove',
  'process/resize',
  'process/snapshot',
  'process/startPrepared',
  'process/wait',
  'session/end',
]);

export type ServerNotificationName = keyof typeof SERVER_NOTIFICATIONS;
export type NotificationParams<N extends ServerNotificationName> = z.output<
  (typeof SERVER_NOTIFICATIONS)[N]['params']
>;

export type ClientNotificationName = keyof typeof CLIENT_NOTIFICATIONS;
export type ServerRequestName = keyof typeof SERVER_REQUESTS;
export type ServerRequestParams<R extends ServerRequestName> = z.output<
  (typeof SERVER_REQUESTS)[R]['params']
>;
export type ServerRequestResult<R extends ServerRequestName> = z.output<
  (typeof SERVER_REQUESTS)[R]['result']
>;

/** Whether a request's method exists. Names that every object has, such as `constructor`, do not. */
export function isMethod(name: string): name is MethodName {
  return Object.hasOwn(METHODS, name);
}

export function isServerNotification(name: string): name is ServerNotificationName {
  return Object.hasOwn(SERVER_NOTIFICATIONS, name);
}

export function isClientNotification(name: string): name is ClientNotificationName {
  return Object.hasOwn(CLIENT_NOTIFICATIONS, name);
}

export function isServerRequest(name: string): name is ServerRequestName {
  return Object.hasOwn(SERVER_REQUESTS, name);
}
