import type { MethodName, ParamsOf } from '@exec-server/protocol';
import { ExecServerError, RejectedError } from '../errors.js';

/** Code of a server whose session still hangs on the connection that was lost. */
const SESSION_ATTACHED = -32010;

/** Calls that change nothing, so that it does no harm to send them again. Handles of files end with their connection. */
const CHANGES_NOTHING: ReadonlySet<MethodName> = new Set<MethodName>([
  'capabilities/discoverV2',
  'capabilityRoots/discoverV1',
  'environment/info',
  'environment/status',
  'environmentConfig/read',
  'fs/canonicalize',
  'fs/getMetadata',
  'fs/readDirectory',
  'fs/readFile',
  'fs/readLink',
  'fs/walk',
  'net/waitForPort',
  'process/list',
  'process/read',
  'process/snapshot',
  'process/wait',
]);

/** Whether a call may be sent again when the connection is lost before its answer. */
export function mayBeResent<M extends MethodName>(method: M, params: ParamsOf<M>): boolean {
  if (CHANGES_NOTHING.has(method)) return true;
  // A second attachment replaces the first, and a write that has an id is carried out once.
  if (method === 'process/attach') return true;
  return method === 'process/write' && (params as ParamsOf<'process/write'>).writeId !== undefined;
}

/** How long the server may take because it was asked to, in milliseconds; infinite when nothing bounds it. */
export function askedWaitMs<M extends MethodName>(method: M, params: ParamsOf<M>): number {
  switch (method) {
    case 'process/read':
      return (params as ParamsOf<'process/read'>).waitMs ?? 0;
    case 'process/wait':
      return (params as ParamsOf<'process/wait'>).timeoutMs ?? Number.POSITIVE_INFINITY;
    case 'process/terminate':
      return (params as ParamsOf<'process/terminate'>).wait === true ? Number.POSITIVE_INFINITY : 0;
    case 'net/waitForPort':
      return (params as ParamsOf<'net/waitForPort'>).timeoutMs;
    case 'http/request':
      return (params as ParamsOf<'http/request'>).timeoutMs ?? 0;
    default:
      return 0;
  }
}

/** Whether an attempt to get a session back that failed so may succeed a little later. */
export function isWorthAnotherAttempt(error: unknown): boolean {
  if (error instanceof RejectedError) return error.rpcCode === SESSION_ATTACHED;
  if (!(error instanceof ExecServerError)) return false;
  switch (error.code) {
    case 'connect_failed':
      return error.retryable;
    case 'connect_timeout':
    case 'initialize_timeout':
    case 'request_timeout':
    case 'connection_lost':
      return true;
    default:
      return false;
  }
}
