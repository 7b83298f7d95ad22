import type { RequestMessage } from '@exec-server/protocol';
import type { Dialect } from '../dialects/dialect.js';

/** The dialects of a server, by name. */
export interface Dialects {
  /** `clientName` in `initialize`. Its oldest generation, `command/exec` with an `argv`, is spoken on top of it. */
  readonly exec: Dialect;
  /** `clientInfo` in `initialize`. */
  readonly app: Dialect;
}

export type DialectName = keyof Dialects;

/** Which dialect a request belongs to while no `initialize` has settled it for the connection. */
export function chooseDialect({ method, params }: Pick<RequestMessage, 'method' | 'params'>): DialectName {
  if (method === 'config/read') return 'app';
  if (method === 'initialize') return hasMember(params, 'clientInfo') ? 'app' : 'exec';
  return isCommandMethod(method) && hasMember(params, 'command') ? 'app' : 'exec';
}

/** Whether a method has one of the names that the app dialect and the oldest exec generation share. */
export function isCommandMethod(method: string): boolean {
  return method === 'command/exec' || method.startsWith('command/exec/');
}

/** Whether params have a member of that name. */
export function hasMember(params: unknown, name: string): boolean {
  return typeof params === 'object' && params !== null && Object.hasOwn(params, name);
}
