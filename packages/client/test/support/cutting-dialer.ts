import {
  type CloseOptions,
  createMemoryTransportPair,
  type Transport,
  type TransportHandlers,
} from '@exec-server/rpc';
import type { Dialer } from '../../src/dial/dialer.js';

/** Where connections of a {@link CuttingDialer} end. */
export interface Accepting {
  accept(transport: Transport): void;
}

/** Decides at each JSON message whether the connection breaks before it gets there. */
export type CutWhen = (text: string, direction: 'sent' | 'received') => boolean;

/** Cuts the connection at the first few messages of that kind; an answer is known by the request that it is to. */
export function cutAt(method: string, cutDirection: 'sent' | 'received', times: number): CutWhen {
  const asked = new Set<unknown>();
  let left = times;
  return (text, direction) => {
    const message = JSON.parse(text) as { id?: unknown; method?: string };
    if (direction === 'sent' && message.method === method) asked.add(message.id);
    const fits = direction === 'sent' ? message.method === method : asked.has(message.id);
    if (direction !== cutDirection || !fits || left === 0) return false;
    left--;
    asked.clear();
    return true;
  };
}

/** Makes memory connections to a server and cuts them when a test says so. */
export class CuttingDialer implements Dialer {
  readonly address = 'memory';
  readonly redials = true;
  /** Connections asked for so far. */
  dials = 0;
  cutWhen: CutWhen = () => false;
  readonly #server: Accepting;
  #current: Transport | undefined;
  #gate: Promise<void> = Promise.resolve();
  #openGate: () => void = () => {};

  constructor(server: Accepting) {
    this.#server = server;
  }

  async dial(signal: AbortSignal): Promise<Transport> {
    this.dials++;
    await this.#gate;
    signal.throwIfAborted();
    const [near, far] = createMemoryTransportPair('exec-server test', `client ${this.dials}`);
    this.#server.accept(far);
    this.#current = near;
    return new CutTransport(near, (text, direction) => this.cutWhen(text, direction));
  }

  async close(): Promise<void> {}

  /** Ends the present connection; what is on its way is lost. */
  cut(): void {
    this.#current?.destroy('cut');
  }

  /** Lets no new connection come about until `open`. */
  shut(): void {
    this.#gate = new Promise((resolve) => {
      this.#openGate = resolve;
    });
  }

  open(): void {
    this.#openGate();
  }
}

class CutTransport implements Transport {
  readonly framing = 'memory';
  readonly sendBinary: NonNullable<Transport['sendBinary']>;

  constructor(
    private readonly inner: Transport,
    private readonly cutWhen: CutWhen,
  ) {
    this.sendBinary = (...parts) => inner.sendBinary?.(...parts);
  }

  get label(): string {
    return this.inner.label;
  }

  get bufferedBytes(): number {
    return this.inner.bufferedBytes;
  }

  open(handlers: TransportHandlers): void {
    this.inner.open({
      ...handlers,
      onMessage: (text) => {
        if (this.#passes(text, 'received')) handlers.onMessage(text);
      },
    });
  }

  send(text: string): void {
    if (this.#passes(text, 'sent')) this.inner.send(text);
  }

  sendBytes(line: Uint8Array): void {
    this.inner.sendBytes(line);
  }

  pause(): void {
    this.inner.pause();
  }

  resume(): void {
    this.inner.resume();
  }

  close(options?: CloseOptions): void {
    this.inner.close(options);
  }

  destroy(reason: string): void {
    this.inner.destroy(reason);
  }

  #passes(text: string, direction: 'sent' | 'received'): boolean {
    if (!this.cutWhen(text, direction)) return true;
    this.inner.destroy('cut');
    return false;
  }
}
