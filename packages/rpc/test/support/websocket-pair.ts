import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';

/** Two ends of a real WebSocket connection over loopback, and the TCP sockets below them. */
export interface WebSocketPair {
  readonly server: WebSocketServer;
  readonly url: string;
  readonly near: WebSocket;
  readonly nearStream: Socket;
  readonly far: WebSocket;
  readonly farStream: Socket;
  close(): Promise<void>;
}

export async function listenWebSocket(
  options: { maxPayload?: number; handleProtocols?: (protocols: Set<string>) => string | false } = {},
): Promise<{ server: WebSocketServer; url: string }> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, ...options });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { server, url: `ws://127.0.0.1:${port}` };
}

export async function closeServer(server: WebSocketServer): Promise<void> {
  for (const client of server.clients) client.terminate();
  await new Promise((resolve) => server.close(resolve));
}

/** `near` is the server's end, `far` the client's. */
export async function connectPair(options: { maxPayload?: number } = {}): Promise<WebSocketPair> {
  const { server, url } = await listenWebSocket(options);
  const far = new WebSocket(url);
  let farStream: Socket | undefined;
  far.on('upgrade', (response) => {
    farStream = response.socket;
  });
  const [[near, request]] = (await Promise.all([once(server, 'connection'), once(far, 'open')])) as [
    [WebSocket, IncomingMessage],
    unknown[],
  ];
  return {
    server,
    url,
    near,
    nearStream: request.socket,
    far,
    farStream: farStream!,
    async close() {
      far.terminate();
      await closeServer(server);
    },
  };
}
