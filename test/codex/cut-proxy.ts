import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { before } from '@exec-server/testing';

/** Passes bytes between a client and a server on loopback until it is told to cut the line. */
export class CutProxy implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #cut = false;
  #onKnock = () => {};

  private constructor(private targetPort: number) {
    this.#server = createServer((client) => this.#accept(client));
  }

  static async start(targetPort: number): Promise<CutProxy> {
    const proxy = new CutProxy(targetPort);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get url(): string {
    return `ws://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Resets every connection and refuses new ones; resolves when the client has tried to come back. */
  async cut(): Promise<void> {
    const knock = new Promise<void>((resolve) => {
      this.#onKnock = resolve;
    });
    this.#cut = true;
    this.#dropAll();
    await before(knock, () => new Error('the client did not try to come back'));
  }

  /** Lets clients through again, to the same server or to another one. */
  restore(targetPort = this.targetPort): void {
    this.targetPort = targetPort;
    this.#cut = false;
  }

  #accept(client: Socket): void {
    if (this.#cut) {
      client.resetAndDestroy();
      this.#onKnock();
      return;
    }
    const server = connect(this.targetPort, '127.0.0.1');
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(from);
      from.pipe(to);
      // Both ends go together, also when one of them is reset.
      from.on('error', () => {});
      from.on('close', () => {
        this.#sockets.delete(from);
        to.destroy();
      });
    }
  }

  #dropAll(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#dropAll();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
