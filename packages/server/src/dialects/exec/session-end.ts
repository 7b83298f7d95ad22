import type { SessionEndParams, SessionEndResult } from '@exec-server/protocol';
import type { HandlerContext } from '../dialect.js';

/** Has the session end with the connection. Until that is gone, it goes on: what is still started then is ended, too. */
export function endSession(_params: SessionEndParams, { session }: HandlerContext): SessionEndResult {
  session.endsWithConnection = true;
  return {};
}
