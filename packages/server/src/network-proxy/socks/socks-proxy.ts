import { createServer, type Server, type Socket } from 'node:net';
import type { AccessRequest } from '../decision.js';
import type { Gatekeeper } from '../gatekeeper.js';
import type { Authority } from '../http/authority.js';
import { joinSockets, sayLast } from '../join-sockets.js';
import { clientOf, MAX_CONNECTIONS } from '../proxy-limits.js';
import type { Upstream } from '../upstream.js';
import {
  addressBytes,
  CONNECT,
  decodeAddress,
  encodeReply,
  NO_ACCEPTABLE_METHOD,
  NO_AUTHENTICATION,
  Reply,
  replyFor,
  SOCKS_VERSION,
  UDP_ASSOCIATE,
} from './messages.js';
import { readExactly } from './read-exactly.js';
import type { UdpRelay } from './udp-relay.js';

/** How long a program may take to say what it wants, in milliseconds. */
const HANDSHAKE_TIMEOUT_MS = 30_000;

export interface SocksProxyOptions {
  readonly gatekeeper: Gatekeeper;
  readonly upstream: Upstream;
  /** Carries datagrams. @default they are refused */
  readonly udp?: UdpRelay | undefined;
  /** Aborts when the proxy ends. */
  readonly signal: AbortSignal;
}

/** A SOCKS5 server. It listens nowhere yet. */
export function createSocksProxy(options: SocksProxyOptions): Server {
  // A program may say all that it has to say before anything comes back.
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    socket.on('error', () => socket.destroy());
    serve(options, socket).catch(() => socket.destroy());
  });
  server.maxConnections = MAX_CONNECTIONS;
  return server;
}

async function serve(options: SocksProxyOptions, socket: Socket): Promise<void> {
  const timer = setTimeout(() => socket.destroy(), HANDSHAKE_TIMEOUT_MS);
  try {
    if (!(await agreeOnMethod(socket))) return;
    const { command, authority } = await readCommand(socket);
    clearTimeout(timer);
    if (authority === undefined || (command === CONNECT && authority.port === 0))
      sayLast(socket, encodeReply(Reply.addressTypeNotSupported));
    else if (command === CONNECT) await connectTo(options, socket, authority);
    else if (command === UDP_ASSOCIATE && options.udp !== undefined)
      options.udp.associate(socket, authority.port);
    else sayLast(socket, encodeReply(Reply.commandNotSupported));
  } finally {
    clearTimeout(timer);
  }
}

async function agreeOnMethod(socket: Socket): Promise<boolean> {
  const [version, count = 0] = await readExactly(socket, 2);
  if (version !== SOCKS_VERSION) throw new Error('another version of the protocol');
  const methods = count === 0 ? Buffer.alloc(0) : await readExactly(socket, count);
  if (!methods.includes(NO_AUTHENTICATION)) {
    sayLast(socket, Buffer.of(SOCKS_VERSION, NO_ACCEPTABLE_METHOD));
    return false;
  }
  socket.write(Buffer.of(SOCKS_VERSION, NO_AUTHENTICATION));
  return true;
}

interface Command {
  readonly command: number;
  /** Absent when it is of no type that exists, or no host. */
  readonly authority: Authority | undefined;
}

async function readCommand(socket: Socket): Promise<Command> {
  const [version, command = 0, , type = 0, first = 0] = await readExactly(socket, 5);
  if (version !== SOCKS_VERSION) throw new Error('another version of the protocol');
  const rest = addressBytes(type, first);
  if (rest === undefined) return { command, authority: undefined };
  const bytes = Buffer.concat([Buffer.of(first), await readExactly(socket, rest)]);
  return { command, authority: decodeAddress(type, bytes)?.authority };
}

async function connectTo(
  { gatekeeper, upstream, signal }: SocksProxyOptions,
  socket: Socket,
  authority: Authority,
): Promise<void> {
  const wanted: AccessRequest = { ...authority, protocol: 'socks5_tcp', client: clientOf(socket) };
  const access = await gatekeeper.admit(wanted);
  if (!access.allowed) {
    sayLast(socket, encodeReply(Reply.notAllowed));
    return;
  }
  let remote: Socket;
  try {
    remote = await upstream.connect(wanted, access.addresses, signal);
  } catch (error) {
    sayLast(socket, encodeReply(replyFor(error)));
    return;
  }
  if (socket.destroyed) {
    remote.destroy();
    return;
  }
  socket.write(encodeReply(Reply.succeeded, remote.localAddress, remote.localPort));
  joinSockets(socket, remote);
}
