import { overloaded } from '@exec-server/protocol';
import type { Principal } from '../listen/principal.js';
import type { Session, SessionOwner } from '../sessions/session.js';
import { SessionLimitError, type SessionRegistry } from '../sessions/session-registry.js';

/** Opens a session. Throws an {@link RpcError} when there are as many as there may be; the client may try again. */
export function openNewSession(
  sessions: SessionRegistry,
  principal: Principal,
  owner: SessionOwner,
): Session {
  try {
    return sessions.open(principal, owner);
  } catch (error) {
    if (!(error instanceof SessionLimitError)) throw error;
    throw overloaded(error.message);
  }
}
