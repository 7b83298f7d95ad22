import { createServer, type Server, type Socket } from 'node:net';
import { isOwnPort } from '../listen/own-ports.js';
import { type DescriptorDoor, openDescriptorDoor } from '../native/descriptor-door.js';
import type { Doorway } from '../sandbox/backend.js';
import { joinSockets } from './join-sockets.js';
import type { NetworkProxy } from './network-proxy.js';
import { MAX_CONNECTIONS } from './proxy-limits.js';
import { describeProxy, type ProxyPorts } from './proxy-variables.js';
import { connectTo } from './upstream.js';

/** How one process reaches the network. It is opened before the process is there and closed when nothing is left of it. */
export interface ProcessNetwork {
  /** Opens it and tells the variables that the process gets. Rejects with what the system said. */
  open(): Promise<ReadonlyMap<string, string>>;
  /** The way into the process's own network, once it is open; absent when the process has none of its own. */
  readonly doorway: Doorway | undefined;
  /** Takes over what has come through the doorway, once the process runs. If that fails, the process reaches nothing. */
  enter(): void;
  /** Idempotent. */
  close(): void;
}

/** A proxy on this machine's loopback, for a process that shares the network. */
export class LoopbackNetwork implements ProcessNetwork {
  readonly doorway = undefined;

  constructor(
    private readonly proxy: NetworkProxy,
    private readonly allowLocalBinding: boolean,
  ) {}

  async open(): Promise<ReadonlyMap<string, string>> {
    return describeProxy(await this.proxy.listenOnLoopback(), this.allowLocalBinding);
  }

  enter(): void {}

  close(): void {
    this.proxy.close();
  }
}

/** Where a proxy listens in a network that has nothing else in it. */
const SANDBOX_PORTS = { http: 3128, socks: 1080, udp: 1080 } as const;

/** A proxy on the loopback of the process's own network, where nobody else can use it. */
export class SandboxNetwork implements ProcessNetwork {
  #doorway: Doorway | undefined;

  constructor(
    private readonly proxy: NetworkProxy,
    private readonly allowLocalBinding: boolean,
  ) {}

  get doorway(): Doorway | undefined {
    return this.#doorway;
  }

  async open(): Promise<ReadonlyMap<string, string>> {
    const { offersSocks, offersUdp } = this.proxy;
    const ports: ProxyPorts = {
      http: SANDBOX_PORTS.http,
      socks: offersSocks ? SANDBOX_PORTS.socks : undefined,
    };
    this.#doorway = {
      door: openDescriptorDoor(),
      sockets: [
        { kind: 'stream', port: SANDBOX_PORTS.http },
        ...(offersSocks ? [{ kind: 'stream', port: SANDBOX_PORTS.socks } as const] : []),
        ...(offersUdp ? [{ kind: 'datagram', port: SANDBOX_PORTS.udp } as const] : []),
      ],
    };
    return describeProxy(ports, this.allowLocalBinding);
  }

  enter(): void {
    const [http, socks, udp] = takeSockets(this.#doorway);
    if (http === undefined) this.close();
    else this.proxy.listenAt({ http, socks, udp }).catch(() => this.close());
  }

  close(): void {
    this.#doorway?.door.close();
    this.proxy.close();
  }
}

/** Ports of this machine's loopback, at which some proxy listens, made reachable in the process's own network. */
export class BridgedNetwork implements ProcessNetwork {
  #door: DescriptorDoor | undefined;
  readonly #ended = new AbortController();
  readonly #servers: Server[] = [];
  readonly #sockets = new Set<Socket>();

  constructor(private readonly ports: readonly number[]) {}

  get doorway(): Doorway | undefined {
    const sockets = this.ports.map((port) => ({ kind: 'stream', port }) as const);
    return this.#door && { door: this.#door, sockets };
  }

  async open(): Promise<ReadonlyMap<string, string>> {
    this.#door = openDescriptorDoor();
    return new Map();
  }

  enter(): void {
    for (const [index, fd] of takeSockets(this.doorway).entries()) {
      const port = this.ports[index] ?? 0;
      const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) =>
        this.#join(socket, port),
      );
      server.maxConnections = MAX_CONNECTIONS;
      server.on('error', () => this.close());
      this.#servers.push(server.listen({ fd }));
    }
  }

  close(): void {
    this.#door?.close();
    this.#ended.abort(new Error('the process has ended'));
    for (const server of this.#servers) server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #join(socket: Socket, port: number): void {
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    // The server may have begun to listen there since the process was started.
    if (isOwnPort(port, 'listener')) {
      socket.destroy();
      return;
    }
    connectTo(['127.0.0.1'], port, this.#ended.signal).then(
      (remote) => joinSockets(socket, remote),
      () => socket.destroy(),
    );
  }
}

/** The sockets that came through a doorway, or none; it is closed behind them. */
function takeSockets(doorway: Doorway | undefined): number[] {
  try {
    return doorway?.door.receive(doorway.sockets.length) ?? [];
  } catch {
    return [];
  } finally {
    doorway?.door.close();
  }
}
