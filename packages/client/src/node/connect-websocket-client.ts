import { type ConnectWebSocketOptions, connectWebSocket } from '@exec-server/rpc/node';
import { WireClient, type WireClientOptions } from '../wire-client.js';

/** Options of {@link connectWebSocketClient}. */
export interface ConnectWebSocketClientOptions extends ConnectWebSocketOptions, WireClientOptions {}

/** Connects to `ws://` or `wss://` and performs the handshake. */
export async function connectWebSocketClient(
  url: string,
  options: ConnectWebSocketClientOptions,
): Promise<WireClient> {
  const transport = await connectWebSocket(url, options);
  return WireClient.connect(transport, options);
}
