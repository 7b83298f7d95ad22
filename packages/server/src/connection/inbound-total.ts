/** A connection as far as what it has sent goes. */
export interface HoldingConnection {
  /** Bytes held for what it has sent. */
  readonly heldBytes: number;
  /** Whether it is being ended, and its bytes are about to be let go of. */
  readonly isSentAway: boolean;
  /** Ends it and lets go of them. */
  sendAway(reason: string): void;
}

/**
 * The bytes that are held for what all connections have sent. Each connection has limits of its own; this is for many that
 * are just below them. Who is sent away has a session to resume.
 */
export class InboundTotal {
  #bytes = 0;
  #isReducing = false;

  constructor(
    private readonly connections: Iterable<HoldingConnection>,
    private readonly limitBytes: number,
  ) {}

  get bytes(): number {
    return this.#bytes;
  }

  /** Takes note of what is held for a connection; `change` may be negative. */
  add(change: number): void {
    this.#bytes += change;
    if (this.#bytes <= this.limitBytes || this.#isReducing) return;
    this.#isReducing = true;
    // Not in the middle of what a connection does to read something.
    setImmediate(() => this.#reduce());
  }

  #reduce(): void {
    this.#isReducing = false;
    const staying = [...this.connections].filter(({ isSentAway }) => !isSentAway);
    let bytes = staying.reduce((sum, { heldBytes }) => sum + heldBytes, 0);
    if (bytes <= this.limitBytes) return;
    for (const connection of staying.sort((a, b) => b.heldBytes - a.heldBytes)) {
      if (bytes <= this.limitBytes) return;
      const { heldBytes } = connection;
      bytes -= heldBytes;
      connection.sendAway(
        `clients have sent more than the limit of ${this.limitBytes} bytes in all, and ${heldBytes} of them came from here`,
      );
    }
  }
}
