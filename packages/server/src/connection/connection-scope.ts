import type { CallOptions, Peer } from '@exec-server/rpc';
import type { ConnectionManners, ConnectionResource, ConnectionScope } from '../dialects/dialect.js';

/** What of a peer a scope passes on. */
type ScopedPeer = Pick<
  Peer,
  | 'notify'
  | 'request'
  | 'sendBytes'
  | 'sendBinary'
  | 'carriesObjects'
  | 'sendObject'
  | 'writable'
  | 'whenWritable'
  | 'bufferedBytes'
>;

/** What handlers see of the connection that they answer. */
export class PeerScope implements ConnectionScope, ConnectionManners {
  binaryOutput = false;
  answersRequests = false;
  encodeNotification: ConnectionManners['encodeNotification'];
  readonly #resources = new Map<unknown, ConnectionResource>();
  #closed = false;

  constructor(private readonly peer: ScopedPeer) {}

  get bufferedBytes(): number {
    return this.peer.bufferedBytes;
  }

  get writable(): boolean {
    return this.peer.writable;
  }

  whenWritable(): Promise<void> {
    return this.peer.whenWritable();
  }

  notify(method: string, params: unknown): void {
    if (this.encodeNotification === undefined) {
      this.peer.notify(method, params);
      return;
    }
    const line = this.encodeNotification(method, params);
    if (line !== undefined) this.peer.sendBytes(line);
  }

  request(method: string, params: unknown, options: CallOptions): Promise<unknown> {
    return this.peer.request(method, params, options);
  }

  sendBytes(line: Uint8Array, onFree?: () => void): void {
    this.peer.sendBytes(line, onFree);
  }

  sendBinary(frame: Uint8Array, rest?: Uint8Array, onFree?: () => void): void {
    this.peer.sendBinary(frame, rest, onFree);
  }

  get carriesObjects(): boolean {
    return this.peer.carriesObjects;
  }

  sendObject(message: object, bytes: number): void {
    this.peer.sendObject(message, bytes);
  }

  keep<T extends ConnectionResource>(kind: new (scope: ConnectionScope) => T): T {
    const known = this.#resources.get(kind) as T | undefined;
    if (known !== undefined) return known;
    const resource = new kind(this);
    // A request may outlive its connection by a moment; what it opens then is closed at once.
    if (this.#closed) resource.close();
    else this.#resources.set(kind, resource);
    return resource;
  }

  close(): void {
    this.#closed = true;
    for (const resource of this.#resources.values()) resource.close();
    this.#resources.clear();
  }
}
