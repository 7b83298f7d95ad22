export { addAbortListener, removeAbortListener } from './abort-listeners.js';
export {
  type BrowserWebSocketTransportOptions,
  createBrowserWebSocketTransport,
} from './browser-websocket-transport.js';
export type { ConnectLimits } from './connect-attempt.js';
export { type BrowserConnectOptions, connectBrowserWebSocket } from './connect-browser-websocket.js';
export {
  CallTimeoutError,
  ConnectError,
  ConnectionLostError,
  PeerError,
  PendingCallLimitError,
} from './errors.js';
export { createMemoryTransportPair } from './memory-transport.js';
export type { MessageLimit } from './message-limit.js';
export { Peer } from './peer.js';
export type { LongMessageReader, ParseErrorRule, PeerOptions, WireError } from './peer-options.js';
export { type CallOptions, MAX_TIMER_MS } from './pending-calls.js';
export type { CloseOptions, KeepBytes, KeptBytes, Transport, TransportHandlers } from './transport.js';
export { withoutSecrets } from './without-secrets.js';
export { SharedTurn, type WorkSliceOptions, WorkSlices } from './work-slices.js';
