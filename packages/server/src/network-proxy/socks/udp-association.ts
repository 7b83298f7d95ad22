import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import type { Gatekeeper } from '../gatekeeper.js';
import type { Authority } from '../http/authority.js';
import { decodeAddress, encodeAddress } from './messages.js';

/** Places that one association may send to. What is sent to more is lost, as datagrams may be. */
export const MAX_DESTINATIONS = 256;

/** Datagrams of one association that wait for a decision; more are lost. */
export const MAX_WAITING_DATAGRAMS = 64;

/** Two reserved bytes, and the number of a fragment: 0 when it is none. */
const HEADER_BYTES = 3;

/** Where a program's datagrams come from. */
export interface Endpoint {
  readonly address: string;
  readonly port: number;
}

/** One program's use of the relay: where it may send, and whose answers it gets. */
export class UdpAssociation {
  /** Where the program sends from, once it has. */
  client: Endpoint | undefined;
  readonly #destinations = new Map<string, Promise<string | undefined>>();
  readonly #sockets = new Map<'udp4' | 'udp6', UdpSocket>();
  readonly #heardFrom = new Set<string>();
  #waiting = 0;
  #closed = false;

  constructor(
    private readonly gatekeeper: Gatekeeper,
    /** The port that the program said it would send from; 0 when it said none. */
    readonly expectedPort: number,
    private readonly deliver: (datagram: Buffer, to: Endpoint) => void,
  ) {}

  /** Sends on what the program wants sent, once it is known that it may be. */
  async send(datagram: Buffer): Promise<void> {
    // Fragments are optional, and nobody sends any.
    if (datagram.length <= HEADER_BYTES || datagram[2] !== 0) return;
    const target = decodeAddress(datagram[HEADER_BYTES] ?? 0, datagram.subarray(HEADER_BYTES + 1));
    if (target === undefined || this.#waiting >= MAX_WAITING_DATAGRAMS) return;
    this.#waiting++;
    const address = await this.#admit(target.authority);
    this.#waiting--;
    if (address === undefined || this.#closed) return;
    const { port } = target.authority;
    this.#heardFrom.add(endpointKey({ address, port }));
    this.#socketFor(address).send(datagram.subarray(HEADER_BYTES + 1 + target.end), port, address);
  }

  close(): void {
    this.#closed = true;
    for (const socket of this.#sockets.values()) socket.close();
    this.#sockets.clear();
  }

  /** The address to send to, decided once for each destination; nothing when it may not be sent to. */
  async #admit({ host, port }: Authority): Promise<string | undefined> {
    const key = `${host}|${port}`;
    const known = this.#destinations.get(key);
    if (known !== undefined) return known;
    if (this.#destinations.size >= MAX_DESTINATIONS) return undefined;
    const { address = '', port: from = 0 } = this.client ?? {};
    const deciding = this.gatekeeper
      .admit({ protocol: 'socks5_udp', host, port, client: `${address}:${from}` })
      .then((access) => (access.allowed ? access.addresses[0] : undefined));
    this.#destinations.set(key, deciding);
    return deciding;
  }

  #socketFor(address: string): UdpSocket {
    const family = isIPv6(address) ? 'udp6' : 'udp4';
    const known = this.#sockets.get(family);
    if (known !== undefined) return known;
    const socket = createSocket(family);
    this.#sockets.set(family, socket);
    // A datagram that cannot be sent is lost like any other.
    socket.on('error', () => {});
    socket.on('message', (data, from) => this.#answer(data, from));
    return socket;
  }

  #answer(data: Buffer, from: Endpoint): void {
    // Only those who were sent something have something to say.
    if (this.client === undefined || !this.#heardFrom.has(endpointKey(from))) return;
    const head = Buffer.concat([Buffer.alloc(HEADER_BYTES), encodeAddress(from.address, from.port)]);
    this.deliver(Buffer.concat([head, data]), this.client);
  }
}

export function endpointKey({ address, port }: Endpoint): string {
  return `${address}|${port}`;
}
