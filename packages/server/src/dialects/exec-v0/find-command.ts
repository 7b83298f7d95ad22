import type { ManagedProcess } from '../../process/managed-process.js';
import type { HandlerContext } from '../dialect.js';

/** The process of that id, as long as its end has not been told. */
export function findCommand(
  sessionId: string,
  { engine, session }: HandlerContext,
): ManagedProcess | undefined {
  return engine.registry.find(session.id, sessionId)?.process;
}
