import { PeerError } from '@exec-server/rpc';

/** The server answered `initialize` with another session than the one to resume. */
export class UnexpectedSessionError extends PeerError {
  override readonly name = 'UnexpectedSessionError';
  readonly code = 'unexpected_session';

  constructor(readonly sessionId: string) {
    super(`exec-server initialized an unexpected session ${sessionId}`);
  }
}
