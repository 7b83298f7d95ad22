import type * as z from 'zod/mini';
import { struct } from '../struct.js';
import * as command from './command.js';
import * as config from './config.js';
import * as fs from './fs.js';
import { InitializeParams, InitializeResult } from './initialize.js';
import * as process from './process.js';

/** The result of a method that has nothing to say but that it was done. */
export const EmptyResult = struct('EmptyResponse', {});
export type EmptyResult = z.output<typeof EmptyResult>;

interface Traits {
  /** The order in which requests are carried out; see the methods of the exec dialect. */
  readonly lane: 'handshake' | 'control' | 'ordinary';
  /** Whether it is refused to clients that did not ask for `experimentalApi`. */
  readonly experimental: boolean;
}

function method<P extends z.ZodMiniType, R extends z.ZodMiniType>(
  params: P,
  result: R,
  { lane = 'ordinary', experimental = false }: Partial<Traits> = {},
): Traits & { readonly params: P; readonly result: R } {
  return { lane, experimental, params, result };
}

/** Requests from client to server. */
export const METHODS = {
  initialize: method(InitializeParams, InitializeResult, { lane: 'handshake' }),

  'command/exec': method(command.CommandExecParams, command.CommandExecResult),
  'command/exec/write': method(command.CommandExecWriteParams, EmptyResult),
  'command/exec/resize': method(command.CommandExecResizeParams, EmptyResult, { lane: 'control' }),
  'command/exec/terminate': method(command.CommandExecTerminateParams, EmptyResult, { lane: 'control' }),

  'process/spawn': method(process.ProcessSpawnParams, EmptyResult, { experimental: true }),
  'process/writeStdin': method(process.ProcessWriteStdinParams, EmptyResult, { experimental: true }),
  'process/resizePty': method(process.ProcessResizePtyParams, EmptyResult, {
    lane: 'control',
    experimental: true,
  }),
  'process/kill': method(process.ProcessKillParams, EmptyResult, { lane: 'control', experimental: true }),

  'fs/readFile': method(fs.FsReadFileParams, fs.FsReadFileResult),
  'fs/writeFile': method(fs.FsWriteFileParams, EmptyResult),
  'fs/createDirectory': method(fs.FsCreateDirectoryParams, EmptyResult),
  'fs/getMetadata': method(fs.FsGetMetadataParams, fs.FsGetMetadataResult),
  'fs/readDirectory': method(fs.FsReadDirectoryParams, fs.FsReadDirectoryResult),
  'fs/remove': method(fs.FsRemoveParams, EmptyResult),
  'fs/copy': method(fs.FsCopyParams, EmptyResult),
  'fs/watch': method(fs.FsWatchParams, fs.FsWatchResult),
  'fs/unwatch': method(fs.FsUnwatchParams, EmptyResult),

  'config/read': method(config.ConfigReadParams, config.ConfigReadResult),
} as const;

/** Notifications from server to client. */
export const SERVER_NOTIFICATIONS = {
  'command/exec/outputDelta': { params: command.CommandExecOutputDeltaNotification },
  'process/outputDelta': { params: process.ProcessOutputDeltaNotification },
  'process/exited': { params: process.ProcessExitedNotification },
  'fs/changed': { params: fs.FsChangedNotification },
} as const;

export type MethodName = keyof typeof METHODS;
export type ServerNotificationName = keyof typeof SERVER_NOTIFICATIONS;
export type ParamsOf<M extends MethodName> = z.output<(typeof METHODS)[M]['params']>;
export type ResultOf<M extends MethodName> = z.output<(typeof METHODS)[M]['result']>;
