/** Totals of a server that connections add to, in bytes. */
export interface ByteTotals {
  /** Takes note of a change of what is queued to a connection. */
  onQueued(change: number): void;
  /** Takes note of a change of what is held for what a connection has sent. */
  onHeld(change: number): void;
}

/** What one connection adds to the totals of its server. */
export class ConnectionBytes {
  #queued = 0;
  #unfinished = 0;
  #pending = 0;

  constructor(private readonly totals: ByteTotals) {}

  /** Bytes held for what the client has sent. */
  get held(): number {
    return this.#unfinished + this.#pending;
  }

  /** Bytes that are queued to the client now. */
  setQueued(bytes: number): void {
    const change = bytes - this.#queued;
    this.#queued = bytes;
    this.totals.onQueued(change);
  }

  /** Memory that is held now for a message that is not whole yet. */
  setUnfinished(bytes: number): void {
    const change = bytes - this.#unfinished;
    this.#unfinished = bytes;
    this.totals.onHeld(change);
  }

  /** Message bytes of the requests that are pending now. They are until they have given up, also on a connection that is gone. */
  setPending(bytes: number): void {
    const change = bytes - this.#pending;
    this.#pending = bytes;
    this.totals.onHeld(change);
  }

  /** The connection is gone, with its queue and what was not whole. */
  end(): void {
    this.setQueued(0);
    this.setUnfinished(0);
  }
}
