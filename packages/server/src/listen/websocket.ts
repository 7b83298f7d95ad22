import { createServer, type IncomingMessage, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { BEARER_SUBPROTOCOL_PREFIX, MAX_MESSAGE_BYTES, SUBPROTOCOL } from '@exec-server/protocol';
import { createWebSocketTransport, type MessageReads, readMessages } from '@exec-server/rpc/node';
import { type WebSocket, WebSocketServer } from 'ws';
import { systemClock } from '../clock.js';
import { silentLogger } from '../telemetry/logger.js';
import { answerMetrics } from './answer-metrics.js';
import { type AcceptedCredential, authenticateUpgrade } from './auth.js';
import { checkAllowLists } from './check-allow-lists.js';
import { createHostGuard } from './host-guard.js';
import { DEFAULT_HTTP_LIMITS, type HttpLimits } from './http-limits.js';
import { decideRequest, type HttpAnswer, refuseUpgrade, sendAnswer } from './http-surface.js';
import { isLoopbackAddress } from './ip-address.js';
import { DEFAULT_KEEP_ALIVE_LIMITS, KeepAlive } from './keep-alive.js';
import { bindError, ListenError } from './listen-error.js';
import type { ListenOptions } from './listen-options.js';
import { formatAuthority, type ListenTarget, unsupportedUrl } from './listen-url.js';
import type { AcceptConnection, Listener } from './listener.js';
import { claimPort } from './own-ports.js';
import { PendingConnections, peerName } from './pending-connections.js';
import { measureSendProgress } from './socket-progress.js';
import { measureTraffic } from './stream-traffic.js';

type WebSocketTarget = Extract<ListenTarget, { kind: 'websocket' }>;

/** How often Node looks for requests over their time. */
const TIMEOUT_CHECK_MS = 1_000;

/** What was read of a connection beyond its upgrade is read as messages by then. */
const NO_HEAD = Buffer.alloc(0);

/** Request ids that are echoed; anything else could not stand in a header of ours. */
const ECHOED_REQUEST_ID = /^[\x21-\x7e]{1,256}$/;

export async function openWebSocketListener(
  target: WebSocketTarget,
  options: ListenOptions,
  accept: AcceptConnection,
): Promise<Listener> {
  refuseOpenNetwork(target, options);
  checkAllowLists(options);
  const server = createHttpServer(target, { ...DEFAULT_HTTP_LIMITS, ...options.http }, options);
  await bind(server, target);
  return new WebSocketListener(server, target, options, accept);
}

class WebSocketListener implements Listener {
  readonly url: string;
  readonly ended: Promise<void>;
  readonly #server: Server;
  readonly #options: ListenOptions;
  readonly #accept: AcceptConnection;
  readonly #decide: (request: IncomingMessage) => ReturnType<typeof decideRequest>;
  readonly #pending: PendingConnections;
  readonly #releasePort: () => void;
  readonly #upgrader = createUpgrader();
  #resolveEnded = () => {};

  constructor(server: Server, target: WebSocketTarget, options: ListenOptions, accept: AcceptConnection) {
    const { address, port } = server.address() as AddressInfo;
    this.url = `${scheme(target)}://${formatAuthority(address, port)}`;
    this.#releasePort = claimPort(port, 'listener');
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
    this.#server = server;
    this.#options = options;
    this.#accept = accept;
    const surface = {
      allowedOrigins: options.allowedOrigins ?? [],
      isOwnHost: createHostGuard({ boundAddress: address, allowedHosts: options.allowedHosts ?? [] }),
      hasMetrics: options.metrics !== undefined,
    };
    this.#decide = (request) => decideRequest(request, surface);
    const { maxPendingConnections } = { ...DEFAULT_HTTP_LIMITS, ...options.http };
    this.#pending = new PendingConnections(server, maxPendingConnections);
    server.on('request', (request, response) => {
      const answer = this.#decide(request);
      if (answer === 'metrics') {
        answerMetrics(request, options).then(
          (metrics) => sendAnswer(response, metrics),
          (error: unknown) => this.#fail(request.socket, error),
        );
        return;
      }
      // Node has already decided that this is no upgrade, so nothing is left that could be done with it.
      sendAnswer(response, answer === 'upgrade' ? { status: 426 } : answer);
    });
    server.on('upgrade', (request, socket: Socket, head) => {
      this.#upgrade(request, socket, head).catch((error: unknown) => this.#fail(socket, error));
    });
    // After a failed accept, out of descriptors for one, the server goes on listening.
    server.on('error', (err) => this.#logger.warn({ err, url: this.url }, 'could not accept a connection'));
  }

  get #logger() {
    return this.#options.logger ?? silentLogger;
  }

  async close(): Promise<void> {
    // The callback of `close` would wait for the connections that go on.
    this.#server.close();
    this.#releasePort();
    this.#pending.destroyAll();
    this.#resolveEnded();
  }

  /** An authentication policy of the embedder's own may fail, which is nobody's credential. */
  #fail(socket: Socket, err: unknown): void {
    this.#logger.error({ err, remote: peerName(socket) }, 'could not answer a request');
    socket.destroy();
  }

  async #upgrade(request: IncomingMessage, socket: Socket, head: Buffer): Promise<void> {
    // Until the WebSocket owns it nobody else would hear an error of the socket, and it would end the process.
    const ignoreError = () => {};
    socket.on('error', ignoreError);
    const refuse = (answer: HttpAnswer) => {
      this.#logger.info(
        { remote: peerName(socket), status: answer.status, reason: answer.body },
        'refused a connection',
      );
      this.#options.onRefused?.(answer.status);
      refuseUpgrade(request, socket, answer);
    };
    const answer = this.#decide(request);
    // Some HTTP clients offer an upgrade with whatever they ask for.
    if (answer === 'metrics')
      return refuseUpgrade(request, socket, await answerMetrics(request, this.#options));
    if (answer !== 'upgrade') return refuse(answer);
    const outcome = await authenticateUpgrade(this.#options.auth, request.headers);
    if (!outcome.accepted) return refuse({ status: 401, body: outcome.reason });
    const refusal = this.#options.findRefusal?.();
    if (refusal !== undefined) return refuse({ status: 503, body: refusal });
    if (socket.destroyed || !this.#server.listening) return void socket.destroy();
    socket.off('error', ignoreError);
    const reads = readMessages(socket, head, { bytes: MAX_MESSAGE_BYTES });
    this.#upgrader.handleUpgrade(request, reads.stream, NO_HEAD, (webSocket) => {
      reads.deliverTo(webSocket);
      this.#pending.release(reads.socket);
      this.#connected(webSocket, reads, outcome);
    });
  }

  #connected(
    webSocket: WebSocket,
    { stream, socket, inbound }: MessageReads,
    { principal, leftMs }: AcceptedCredential,
  ): void {
    const remote = peerName(socket);
    const transport = createWebSocketTransport(webSocket, {
      label: `exec-server websocket ${remote}`,
      stream,
      inbound,
      role: 'server',
    });
    const keepAlive = new KeepAlive(
      {
        ping: () => webSocket.ping(),
        hasUnsentBytes: () => stream.writableLength + socket.writableLength > 0,
        sendProgress: () => measureSendProgress(socket),
        isReadingPaused: () => webSocket.isPaused,
        drop: (reason) => {
          this.#logger.warn({ remote, reason }, 'dropped a connection');
          transport.destroy(reason);
        },
      },
      this.#options.clock ?? systemClock,
      { ...DEFAULT_KEEP_ALIVE_LIMITS, ...this.#options.keepAlive },
    );
    for (const event of ['pong', 'ping', 'message'] as const) {
      webSocket.on(event, () => keepAlive.heardFromPeer());
    }
    webSocket.once('close', () => keepAlive.stop());
    const readTraffic = () => measureTraffic(socket, socket);
    this.#accept(transport, {
      principal,
      remote,
      resumable: true,
      readTraffic,
      ...(leftMs && { credentialLeftMs: leftMs }),
    });
  }
}

/** Running programs for anybody who can reach the port has to be asked for by name. */
function refuseOpenNetwork(target: WebSocketTarget, options: ListenOptions): void {
  if (isLoopbackAddress(target.host) || options.auth !== undefined || options.allowUnauthenticated) return;
  throw new ListenError(
    'unauthenticated',
    `refusing to listen on ${scheme(target)}://${formatAuthority(target.host, target.port)} without authentication, ` +
      'because anybody who reaches it could run programs here; add `--ws-auth capability-token --ws-token-file FILE`, ' +
      'listen on a loopback address, or pass `--allow-unauthenticated` if the network itself is trusted',
  );
}

function createHttpServer(target: WebSocketTarget, limits: HttpLimits, options: ListenOptions): Server {
  const httpOptions = {
    noDelay: true,
    headersTimeout: limits.headerTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.idleTimeoutMs,
    maxHeaderSize: limits.maxHeaderBytes,
    insecureHTTPParser: false,
    // Looked at with everything else, in words, and for upgrades as well.
    requireHostHeader: false,
    connectionsCheckingInterval: Math.min(TIMEOUT_CHECK_MS, limits.headerTimeoutMs),
  };
  if (!target.tls) return createServer(httpOptions);
  if (options.tls === undefined) {
    throw unsupportedUrl(`wss://${formatAuthority(target.host, target.port)}`);
  }
  const { cert, key } = options.tls;
  try {
    return createTlsServer({ ...httpOptions, cert, key, handshakeTimeout: limits.headerTimeoutMs });
  } catch (cause) {
    throw new ListenError(
      'unusable_secret',
      `cannot use the TLS certificate and key: ${(cause as Error).message}`,
      { cause },
    );
  }
}

function bind(server: Server, target: WebSocketTarget): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (cause: NodeJS.ErrnoException) =>
      reject(bindError(`${scheme(target)}://${formatAuthority(target.host, target.port)}`, cause));
    server.once('error', fail);
    server.listen({ host: target.host, port: target.port }, () => {
      server.off('error', fail);
      resolve();
    });
  });
}

function createUpgrader(): WebSocketServer {
  const upgrader = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: MAX_MESSAGE_BYTES,
    // A browser ends a connection for which none of the names it offered was selected. Our own comes first, because
    // the other is a token, which is better not sent back even to who sent it.
    handleProtocols: (offered) => (offered.has(SUBPROTOCOL) ? SUBPROTOCOL : (findBearer(offered) ?? false)),
  });
  upgrader.on('headers', (headers: string[], request: IncomingMessage) => {
    const requestId = request.headers['x-request-id'];
    if (typeof requestId === 'string' && ECHOED_REQUEST_ID.test(requestId)) {
      headers.push(`x-request-id: ${requestId}`);
    }
  });
  upgrader.on('wsClientError', (error: Error, socket: Socket, request: IncomingMessage) => {
    refuseUpgrade(request, socket, { status: 400, body: error.message });
  });
  return upgrader;
}

function findBearer(offered: ReadonlySet<string>): string | undefined {
  return [...offered].find((name) => name.startsWith(BEARER_SUBPROTOCOL_PREFIX));
}

function scheme(target: WebSocketTarget): 'ws' | 'wss' {
  return target.tls ? 'wss' : 'ws';
}
