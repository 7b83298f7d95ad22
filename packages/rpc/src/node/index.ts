export { Base64ResponseWriter } from './base64-response-writer.js';
export { connectUnixSocket } from './connect-unix.js';
export { type ConnectWebSocketOptions, connectWebSocket } from './connect-websocket.js';
export { type ContentMember, readContentRequest } from './content-request.js';
export { createLineTransport, type LineTransportOptions } from './line-transport.js';
export { OutputEncoder, type OutputStreamName } from './output-encoder.js';
export { spareBuffers } from './spare-buffers.js';
export { spliceBase64 } from './splice-base64.js';
export { createWebSocketTransport, type WebSocketTransportOptions } from './websocket-transport.js';
