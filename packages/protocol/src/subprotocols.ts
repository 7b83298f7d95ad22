/** The WebSocket subprotocol that a server selects when a client offers it. */
export const SUBPROTOCOL = 'exec-server';

/** A browser cannot set headers on a WebSocket, so it offers its token as a subprotocol: this and base64url. */
export const BEARER_SUBPROTOCOL_PREFIX = 'exec-server.bearer.';
