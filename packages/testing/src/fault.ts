import type { MessagePredicate } from './inbox.js';

/** Which way bytes go through the proxy. */
export type Direction = 'toServer' | 'toClient';

/** When a fault strikes, in one direction of one connection. */
export type FaultTrigger =
  /** After so many bytes, counted from the first of the connection; mostly within a message. */
  | { readonly bytes: number }
  /** At the message of that number, counted from 1. */
  | { readonly message: number }
  /** At the first message that fits. Binary output is shown as the notification that it stands for, without its bytes. */
  | { readonly matching: MessagePredicate; readonly name: string };

/**
 * What happens then.
 *
 * - `cut`: both sides are reset; a message that struck the fault is lost.
 * - `cutAfter`: the same, once the message has passed.
 * - `truncate`: the same, once half of the message has passed.
 * - `halfClose`: this direction ends in good order and its bytes are lost; the other direction goes on.
 * - `strand`: only the client is reset; the server believes in the connection until two more have come.
 * - `blackHole`: from here on both directions are read and go nowhere; neither side is told anything, until it goes itself.
 * - `delay`: this direction stands still for a while; nothing is lost.
 */
export type FaultAction = 'cut' | 'cutAfter' | 'truncate' | 'halfClose' | 'strand' | 'blackHole' | 'delay';

/** One thing that goes wrong, once. */
export interface Fault {
  /** The connection that it waits for, in order of arrival from 1. @default whichever comes to it first */
  readonly connection?: number;
  readonly direction: Direction;
  readonly at: FaultTrigger;
  readonly action: FaultAction;
  /** Connections that are refused from then on. @default 0 */
  readonly refuse?: number;
  /** How long a `delay` takes, in milliseconds. @default 20 */
  readonly delayMs?: number;
}

export const DEFAULT_DELAY_MS = 20;

/** A fault in words, for the messages of failed tests. */
export function describeFault(fault: Fault): string {
  const { connection, direction, at, action, refuse = 0, delayMs = DEFAULT_DELAY_MS } = fault;
  const where = connection === undefined ? 'any connection' : `connection ${connection}`;
  const what = action === 'delay' ? `delay of ${delayMs} ms` : action;
  const then = refuse === 0 ? '' : `, then ${refuse} refused`;
  return `${what} ${direction} on ${where} at ${describeTrigger(at)}${then}`;
}

function describeTrigger(at: FaultTrigger): string {
  if ('bytes' in at) return `byte ${at.bytes}`;
  return 'message' in at ? `message ${at.message}` : at.name;
}
