import type { ManagedProcess } from '../../process/managed-process.js';
import type { HandlerContext } from '../dialect.js';
import { Commands } from './commands.js';

/** The process of that id, as long as its end has not been told. */
export function findCommand(
  sessionId: string,
  { engine, session, connection }: HandlerContext,
): ManagedProcess | undefined {
  if (!connection.keep(Commands).has(sessionId)) return undefined;
  return engine.registry.find(session.id, sessionId)?.process;
}
