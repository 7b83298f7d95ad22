import {
  ErrorCode,
  type InitializeParams,
  type InitializeResult,
  invalidRequest,
  namedError,
} from '@exec-server/protocol';
import type { Principal } from '../../listen/principal.js';
import type { ProcessEngine } from '../../process/process-engine.js';
import type { Session, SessionOwner } from '../../sessions/session.js';
import { ResumeError, type SessionRegistry } from '../../sessions/session-registry.js';
import { openNewSession } from '../open-new-session.js';

/** What older clients look for; newer ones read the members beside it. */
const PROTOCOL_VERSION = 'exec-server.v0';

/** Opens or resumes the session of a connection. Throws, or rejects with, an {@link RpcError}; the client may try again. */
export function openSession(
  sessions: SessionRegistry,
  params: InitializeParams,
  principal: Principal,
  owner: SessionOwner,
): Session | Promise<Session> {
  const { resumeSessionId } = params;
  if (resumeSessionId === null || resumeSessionId === undefined)
    return openNewSession(sessions, principal, owner);
  try {
    const session = sessions.resume(resumeSessionId, principal, owner);
    return session instanceof Promise ? session.catch(refuse) : session;
  } catch (error) {
    return refuse(error);
  }
}

function refuse(error: unknown): never {
  if (!(error instanceof ResumeError)) throw error;
  if (error.failure === 'attached')
    throw namedError(ErrorCode.sessionAttached, error.message, 'session_attached');
  throw invalidRequest(error.message, 'session_unknown');
}

export function describeSession(
  engine: ProcessEngine,
  session: Session,
  params: InitializeParams,
  binaryOutput: boolean,
): InitializeResult {
  return {
    sessionId: session.id,
    environmentInfo: engine.environmentInfo,
    protocolVersion: PROTOCOL_VERSION,
    // Who did not ask gets the answer of a server that does not know the word.
    ...(params.binaryOutput !== undefined && { binaryOutput }),
  };
}
