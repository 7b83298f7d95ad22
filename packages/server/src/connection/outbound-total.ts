import type { Logger } from '../telemetry/logger.js';

/** A connection as far as its queue goes. */
export interface QueueingConnection {
  /** Bytes sent that have not left this process yet. */
  readonly outboundBytes: number;
  /** Ends it at once; what is queued is lost. */
  drop(reason: string): void;
}

/**
 * The bytes that are queued to all connections together. Each queue has its own marks, at which what fills it waits;
 * this is for many that are just below them, and for answers that are large. Who is dropped has a session to resume.
 */
export class OutboundTotal {
  #bytes = 0;
  #isReducing = false;

  constructor(
    private readonly connections: Iterable<QueueingConnection>,
    private readonly limitBytes: number,
    private readonly logger: Logger,
  ) {}

  get bytes(): number {
    return this.#bytes;
  }

  /** Takes note of what a connection queues; `change` may be negative. */
  add(change: number): void {
    this.#bytes += change;
    if (this.#bytes <= this.limitBytes || this.#isReducing) return;
    this.#isReducing = true;
    // Not in the middle of what a connection does to send something.
    setImmediate(() => this.#reduce());
  }

  #reduce(): void {
    this.#isReducing = false;
    let queuedBytes = this.#bytes;
    if (queuedBytes <= this.limitBytes) return;
    const byBacklog = [...this.connections].sort((a, b) => b.outboundBytes - a.outboundBytes);
    for (const connection of byBacklog) {
      if (queuedBytes <= this.limitBytes) return;
      const { outboundBytes } = connection;
      queuedBytes -= outboundBytes;
      this.logger.warn({ outboundBytes, limitBytes: this.limitBytes }, 'too much is queued in all');
      connection.drop(`too much is queued in all, and ${outboundBytes} bytes of it here`);
    }
  }
}
