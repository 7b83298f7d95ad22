import { invalidRequest } from '@exec-server/protocol';
import type { ManagedProcess } from '../../process/managed-process.js';
import { findStarted } from '../../process/process-engine.js';
import type { HandlerContext } from '../dialect.js';
import { Attachments } from './attachments.js';

/** Which process a request is about. */
export interface TargetParams {
  readonly processId: string;
  /** Its session, where that is not the caller's own. */
  readonly sessionId?: string | undefined;
}

/**
 * The process that a request names, once its start is over. Another session's exists for the caller only if it is of
 * the same principal, and acting on it takes an attachment with control.
 */
export function findTarget(
  { processId, sessionId }: TargetParams,
  { engine, session, connection }: HandlerContext,
  access: 'view' | 'control',
): Promise<ManagedProcess | undefined> {
  if (sessionId === undefined || sessionId === session.id) return findStarted(engine, session.id, processId);
  const slot = engine.registry.find(sessionId, processId);
  if (slot === undefined || slot.principal !== session.principal) return Promise.resolve(undefined);
  if (access === 'control' && !connection.keep(Attachments).controls(sessionId, processId))
    throw invalidRequest(`process ${processId} of session ${sessionId} is not attached for control`);
  return findStarted(engine, sessionId, processId);
}
