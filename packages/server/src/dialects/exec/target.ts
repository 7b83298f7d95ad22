import { invalidRequest, type RpcError } from '@exec-server/protocol';
import { isSamePrincipal } from '../../listen/principal.js';
import type { ManagedProcess } from '../../process/managed-process.js';
import type { ProcessSlot } from '../../process/process-registry.js';
import type { HandlerContext } from '../dialect.js';
import { Attachments } from './attachments.js';

/** Which process a request is about. */
export interface TargetParams {
  readonly processId: string;
  /** Its session, where that is not the caller's own. */
  readonly sessionId?: string | undefined;
}

/**
 * The process that a request names, or the place of one that is starting. Another session's exists for the caller only
 * if it is of the same principal, and acting on it takes an attachment with control.
 */
export function findTargetSlot(
  { processId, sessionId }: TargetParams,
  { engine, session, connection }: HandlerContext,
  access: 'view' | 'control',
): ProcessSlot | undefined {
  if (sessionId === undefined || sessionId === session.id) return engine.registry.find(session.id, processId);
  const slot = engine.registry.find(sessionId, processId);
  if (slot === undefined || !isSamePrincipal(slot.principal, session.principal)) return undefined;
  if (access === 'control' && !connection.keep(Attachments).controls(sessionId, processId))
    throw invalidRequest(
      `process ${processId} of session ${sessionId} is not attached for control`,
      'process_not_attached',
    );
  return slot;
}

/** Says that there is no such process, and whether there was one. */
export function unknownProcess(
  { processId }: TargetParams,
  { engine, session }: Pick<HandlerContext, 'engine' | 'session'>,
): RpcError {
  const isForgotten = engine.registry.wasForgotten(session.principal, processId);
  return invalidRequest(
    `unknown process id ${processId}`,
    isForgotten ? 'process_expired' : 'process_unknown',
  );
}

/** The same once its own start is over; absent when there is no such process. Waits for nothing else. */
export async function findTarget(
  params: TargetParams,
  context: HandlerContext,
  access: 'view' | 'control',
): Promise<ManagedProcess | undefined> {
  const slot = findTargetSlot(params, context, access);
  if (slot !== undefined && slot.process === undefined) await context.place.park(slot.settled);
  return slot?.process;
}
