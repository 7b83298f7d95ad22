export {
  type ConnectWebSocketClientOptions,
  connectWebSocketClient,
} from './connect-websocket-client.js';
