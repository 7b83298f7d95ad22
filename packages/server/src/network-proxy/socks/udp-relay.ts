import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { Gatekeeper } from '../gatekeeper.js';
import { sayLast } from '../join-sockets.js';
import { encodeReply, Reply } from './messages.js';
import { type Endpoint, endpointKey, UdpAssociation } from './udp-association.js';

/** Associations of one proxy at once. */
export const MAX_ASSOCIATIONS = 64;

/** Where programs hand in their datagrams, and get the answers. All associations share one port. */
export class UdpRelay {
  readonly #associations = new Set<UdpAssociation>();
  readonly #byClient = new Map<string, UdpAssociation>();
  #socket: UdpSocket | undefined;

  constructor(private readonly gatekeeper: Gatekeeper) {}

  /** Takes datagrams at a free port of an address, or at a descriptor that is bound already. Rejects if it cannot. */
  async bind(at: { readonly address: string } | { readonly fd: number }): Promise<void> {
    const socket = createSocket('udp4');
    this.#socket = socket;
    socket.on('message', (datagram, from) => {
      // What cannot be sent is lost.
      this.#find(from)
        ?.send(datagram)
        .catch(() => {});
    });
    socket.bind(at);
    await once(socket, 'listening');
    socket.on('error', () => {});
  }

  /** Opens an association, which lasts as long as the connection that asked for it. */
  associate(control: Socket, expectedPort: number): void {
    const socket = this.#socket;
    if (socket === undefined || this.#associations.size >= MAX_ASSOCIATIONS) {
      sayLast(control, encodeReply(Reply.generalFailure));
      return;
    }
    const association = new UdpAssociation(this.gatekeeper, expectedPort, (datagram, to) =>
      socket.send(datagram, to.port, to.address),
    );
    this.#associations.add(association);
    const end = () => {
      this.#forget(association);
      control.destroy();
    };
    control.once('close', end);
    control.once('end', end);
    // Nothing is said on it any more; reading tells when it ends.
    control.resume();
    const { address, port } = socket.address();
    control.write(encodeReply(Reply.succeeded, address, port));
  }

  close(): void {
    for (const association of this.#associations) this.#forget(association);
    this.#socket?.close();
    this.#socket = undefined;
  }

  /** Whose datagram it is. The first from somewhere belongs to who said that he would send from there, or to who said nothing. */
  #find(from: Endpoint): UdpAssociation | undefined {
    const key = endpointKey(from);
    const known = this.#byClient.get(key);
    if (known !== undefined) return known;
    const waiting = [...this.#associations].filter(({ client }) => client === undefined);
    const association =
      waiting.find(({ expectedPort }) => expectedPort === from.port) ??
      waiting.find(({ expectedPort }) => expectedPort === 0);
    if (association === undefined) return undefined;
    association.client = { address: from.address, port: from.port };
    this.#byClient.set(key, association);
    return association;
  }

  #forget(association: UdpAssociation): void {
    this.#associations.delete(association);
    if (association.client !== undefined) this.#byClient.delete(endpointKey(association.client));
    association.close();
  }
}
