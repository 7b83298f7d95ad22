import { invalidParams, type ProcessStartResult } from '@exec-server/protocol';
import type { ProcessSlot } from '../../process/process-registry.js';
import type { HandlerContext } from '../dialect.js';
import { describeStarted } from './start-request.js';

/** Longest start key, in UTF-16 units: it is kept for as long as its process. */
const MAX_START_KEY_CHARACTERS = 1024;

/** Starts a process unless one of the principal has the start key; then that one is the answer. */
export function startOnce(
  startKey: string | undefined,
  context: HandlerContext,
  start: () => Promise<ProcessStartResult>,
): Promise<ProcessStartResult> {
  if (startKey === undefined) return start();
  if (startKey.length > MAX_START_KEY_CHARACTERS)
    throw invalidParams(`startKey must not have more than ${MAX_START_KEY_CHARACTERS} characters`);
  const holder = context.engine.registry.findByStartKey(context.session.principal, startKey);
  if (holder === undefined) return start();
  return answerHolder(holder, startKey, context, start);
}

async function answerHolder(
  holder: ProcessSlot,
  startKey: string,
  context: HandlerContext,
  start: () => Promise<ProcessStartResult>,
): Promise<ProcessStartResult> {
  if (holder.process === undefined) await context.place.park(holder.settled);
  // A start that has failed has given the key back.
  if (holder.process === undefined) return startOnce(startKey, context, start);
  const isForeign = holder.sessionId !== context.session.id;
  return {
    ...describeStarted(holder.process),
    existing: true,
    ...(isForeign && { sessionId: holder.sessionId }),
  };
}
