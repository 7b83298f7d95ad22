import type * as z from 'zod/mini';
import * as command from './command.js';

/** Requests from client to server. */
export const METHODS = {
  'command/exec': {
    family: 'exec',
    lane: 'ordinary',
    params: command.CommandExecParams,
    result: command.CommandExecResult,
  },
  'command/exec/write': {
    family: 'exec',
    lane: 'ordinary',
    params: command.CommandExecWriteParams,
    result: command.CommandExecWriteResult,
  },
  'command/exec/terminate': {
    family: 'exec',
    lane: 'control',
    params: command.CommandExecTerminateParams,
    result: command.CommandExecTerminateResult,
  },
} as const;

/** Notifications from server to client. */
export const SERVER_NOTIFICATIONS = {
  'command/exec/outputDelta': { params: command.CommandExecOutputDeltaNotification },
  'command/exec/exited': { params: command.CommandExecExitedNotification },
} as const;

export type MethodName = keyof typeof METHODS;
export type ServerNotificationName = keyof typeof SERVER_NOTIFICATIONS;
export type ParamsOf<M extends MethodName> = z.output<(typeof METHODS)[M]['params']>;
export type ResultOf<M extends MethodName> = z.output<(typeof METHODS)[M]['result']>;
