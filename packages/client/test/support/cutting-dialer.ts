import { createMemoryTransportPair, type Transport } from '@exec-server/rpc';
import type { Dialer } from '../../src/dial/dialer.js';

/** Where connections of a {@link CuttingDialer} end. */
export interface Accepting {
  accept(transport: Transport): void;
}

/** Makes memory connections to a server and cuts them when a test says so. */
export class CuttingDialer implements Dialer {
  readonly address = 'memory';
  readonly redials: boolean;
  /** Connections made so far. */
  dials = 0;
  closes = 0;
  readonly #server: Accepting;
  /** Replaces what the next dials do; each entry is used once. */
  readonly #failures: (() => Error)[] = [];
  #current: Transport | undefined;

  constructor(server: Accepting, { redials = true } = {}) {
    this.#server = server;
    this.redials = redials;
  }

  async dial(signal: AbortSignal): Promise<Transport> {
    signal.throwIfAborted();
    this.dials++;
    const failure = this.#failures.shift();
    if (failure !== undefined) throw failure();
    const [near, far] = createMemoryTransportPair('exec-server test', `client ${this.dials}`);
    this.#server.accept(far);
    this.#current = near;
    return near;
  }

  async close(): Promise<void> {
    this.closes++;
  }

  /** Lets the next dial fail. */
  failNext(...failures: (() => Error)[]): void {
    this.#failures.push(...failures);
  }

  /** Ends the present connection; what was on its way is lost. */
  cut(reason = 'cut'): void {
    this.#current?.destroy(reason);
  }
}
