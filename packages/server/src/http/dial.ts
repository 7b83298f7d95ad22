import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { connect as connectTcp, isIP, type Socket, type TcpNetConnectOpts } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { addAbortListener, removeAbortListener } from '@exec-server/rpc';
import { basicCredentials } from './header-list.js';
import { hostToDial, isHttp, portToDial } from './parse-url.js';
import { PlainConnection } from './plain-connection.js';
import type { TrustStore } from './trust-store.js';

/** What a connection is made with. */
export interface DialOptions {
  /** @default none: straight to the host */
  readonly proxy?: URL | undefined;
  readonly trust: TrustStore;
  /** Ends the attempt, and the connection if there is one by then. */
  readonly signal: AbortSignal;
}

/**
 * A connection on which `url` can be asked for: to its host, to a proxy, or through one. Encrypted for `https:`.
 * Rejects with whatever the system said.
 */
export async function dial(url: URL, { proxy, trust, signal }: DialOptions): Promise<Socket> {
  if (proxy === undefined) return encryptIfAsked(await dialTcp(url, signal), url, trust);
  if (!isHttp(proxy)) throw new Error('the proxy speaks another protocol than HTTP');
  const toProxy = await dial(proxy, { trust, signal });
  if (url.protocol === 'http:') return toProxy;
  return encryptIfAsked(await openTunnel(toProxy, url, proxy), url, trust);
}

/**
 * A connection for one request to `url`: as {@link dial} makes it, or one that reads bodies by itself where nothing is
 * encrypted.
 */
export async function dialForRequest(url: URL, options: DialOptions): Promise<Duplex> {
  const { proxy = url, signal } = options;
  const isPlain = url.protocol === 'http:' && proxy.protocol === 'http:';
  return isPlain
    ? await connectWith((target) => new PlainConnection(target), proxy, signal)
    : dial(url, options);
}

function dialTcp(url: URL, signal: AbortSignal): Promise<Socket> {
  return connectWith(connectTcp, url, signal);
}

async function connectWith<Connection extends Duplex>(
  connect: (target: TcpNetConnectOpts) => Connection,
  url: URL,
  signal: AbortSignal,
): Promise<Connection> {
  signal.throwIfAborted();
  const socket = connect({ host: hostToDial(url), port: portToDial(url), noDelay: true });
  ignoreLateErrors(socket);
  // The option `signal` would keep its listener for as long as the signal lives.
  const destroy = () => socket.destroy();
  addAbortListener(signal, destroy);
  socket.once('close', () => removeAbortListener(signal, destroy));
  await untilReady(socket, 'connect');
  return socket;
}

async function encryptIfAsked(socket: Socket, url: URL, trust: TrustStore): Promise<Socket> {
  if (url.protocol !== 'https:') return socket;
  const host = hostToDial(url);
  const secureContext = await trust.context();
  if (socket.destroyed) throw new Error('the connection ended before the handshake');
  const encrypted = connectTls({
    socket,
    host,
    // An address is no name that a server could be asked for.
    servername: isIP(host) === 0 ? host : '',
    secureContext,
    ALPNProtocols: ['http/1.1'],
  });
  ignoreLateErrors(encrypted);
  await untilReady(encrypted, 'secureConnect');
  return encrypted;
}

/** Asks a proxy, to which `socket` leads, for a connection to the host of `url`. */
export async function openTunnel(socket: Socket, url: URL, proxy: URL): Promise<Socket> {
  const target = `${url.hostname}:${portToDial(url)}`;
  const credentials = basicCredentials(proxy);
  const request = httpRequest({
    method: 'CONNECT',
    path: target,
    createConnection: () => socket,
    headers: {
      Host: target,
      ...(credentials !== undefined && { 'Proxy-Authorization': credentials }),
    },
  });
  request.removeHeader('connection');
  ignoreLateErrors(request);
  request.end();
  const [response, tunnel, head] = (await untilReady(request, 'connect')) as [
    IncomingMessage,
    Socket,
    Buffer,
  ];
  if (response.statusCode !== 200) {
    tunnel.destroy();
    throw new Error('the proxy opened no tunnel');
  }
  // What came right behind the answer belongs to the encrypted stream.
  if (head.length > 0) tunnel.unshift(head);
  return tunnel;
}

/** Waits for an event; rejects when there is an error or the end instead, as after an abort. */
async function untilReady(emitter: NodeJS.EventEmitter, event: string): Promise<unknown[]> {
  const ended = new AbortController();
  const end = () => ended.abort();
  emitter.once('close', end);
  try {
    return await once(emitter, event, { signal: ended.signal });
  } finally {
    emitter.off('close', end);
  }
}

/** Whoever waits is told of a failure; one that comes after that has nobody left to tell. */
function ignoreLateErrors(emitter: NodeJS.EventEmitter): void {
  emitter.on('error', () => {});
}
