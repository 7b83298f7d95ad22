import { overloaded } from '@exec-server/protocol';
import { Peer, type Transport } from '@exec-server/rpc';

/** WebSocket close code for a server that is full for now. */
const CLOSE_TRY_AGAIN_LATER = 1013;

/** The id of an answer to no request. */
const NO_REQUEST_ID = -1;

/** Says why a connection is not taken, also where there are no close frames that could, and ends it. */
export function refuseConnection(transport: Transport, reason: string): void {
  const peer = new Peer(transport, { parseErrors: 'ignore', onRequest() {}, onNotification() {} });
  peer.respondError(NO_REQUEST_ID, overloaded(reason));
  peer.close({ code: CLOSE_TRY_AGAIN_LATER, reason });
}
