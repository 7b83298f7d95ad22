import { createServer } from 'node:net';
import { createLineTransport } from '@exec-server/rpc/node';
import { silentLogger } from '../telemetry/logger.js';
import type { ListenOptions } from './listen-options.js';
import type { ListenTarget } from './listen-url.js';
import type { AcceptConnection, Listener } from './listener.js';
import { ANONYMOUS_PRINCIPAL } from './principal.js';
import { listenAtSocketFile } from './socket-file.js';
import { measureTraffic } from './stream-traffic.js';

/** Takes connections that speak lines of JSON. The mode of the socket file is the only credential. */
export async function openUnixSocketListener(
  target: Extract<ListenTarget, { kind: 'unix' }>,
  options: ListenOptions,
  accept: AcceptConnection,
): Promise<Listener> {
  const { path } = target;
  const url = `unix://${path}`;
  const logger = options.logger ?? silentLogger;
  // Half-open, so that a client that has sent its last request still gets the answers.
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    const transport = createLineTransport({
      input: socket,
      output: socket,
      label: `exec-server unix ${path}`,
      onInvalidUtf8: 'report',
    });
    const readTraffic = () => measureTraffic(socket, socket);
    accept(transport, { principal: ANONYMOUS_PRINCIPAL, remote: path, resumable: true, readTraffic });
  });
  const file = await listenAtSocketFile(server, path);
  // After a failed accept, out of descriptors for one, the server goes on listening.
  server.on('error', (err) => logger.warn({ err, url }, 'could not accept a connection'));
  let resolveEnded = () => {};
  const ended = new Promise<void>((resolve) => {
    resolveEnded = resolve;
  });
  return {
    url,
    ended,
    async close() {
      try {
        await file.remove();
      } catch (err) {
        logger.warn({ err, url }, 'could not remove the socket file');
      }
      // The callback of `close` would wait for the connections that go on.
      server.close();
      resolveEnded();
    },
  };
}
