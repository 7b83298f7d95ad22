import type { Clock, ClockTimer } from '../clock.js';

export interface KeepAliveLimits {
  /** Time between pings. @default 30_000 */
  readonly pingIntervalMs: number;
  /** Pings in a row that may stay unanswered. @default 2 */
  readonly maxUnansweredPings: number;
  /** How long a peer that we have bytes for may take none of them. @default 600_000 */
  readonly blockedReaderMs: number;
}

export const DEFAULT_KEEP_ALIVE_LIMITS: KeepAliveLimits = {
  pingIntervalMs: 30_000,
  maxUnansweredPings: 2,
  blockedReaderMs: 10 * 60_000,
};

/** A connection as the keep-alive sees it. */
export interface PingablePeer {
  ping(): void;
  /** Whether there are bytes for the peer that the operating system has not taken yet. */
  hasUnsentBytes(): boolean;
  /** A number that changes whenever the operating system takes bytes for the peer. */
  sendProgress(): number;
  /** True while we do not read: an answer may have come and lie unread. */
  isReadingPaused(): boolean;
  /** Ends the connection. */
  drop(reason: string): void;
}

/** Pings a peer and drops it when it no longer answers. One for each connection. */
export class KeepAlive {
  #unansweredPings = 0;
  #blocked: { readonly sinceMs: number; readonly sendProgress: number } | undefined;
  #timer: ClockTimer;

  constructor(
    private readonly peer: PingablePeer,
    private readonly clock: Clock,
    private readonly limits: KeepAliveLimits,
  ) {
    this.#timer = this.#schedule();
  }

  /** The peer sent something, a pong or anything else. */
  heardFromPeer(): void {
    this.#unansweredPings = 0;
  }

  stop(): void {
    this.#timer.cancel();
  }

  #schedule(): ClockTimer {
    return this.clock.after(this.limits.pingIntervalMs, () => this.#tick());
  }

  #tick(): void {
    const reason = this.#findReasonToDrop();
    if (reason !== undefined) {
      this.peer.drop(reason);
      return;
    }
    this.#timer = this.#schedule();
  }

  #findReasonToDrop(): string | undefined {
    if (this.peer.hasUnsentBytes()) return this.#watchBlockedReader();
    this.#blocked = undefined;
    if (this.peer.isReadingPaused()) {
      this.#unansweredPings = 0;
    } else if (this.#unansweredPings >= this.limits.maxUnansweredPings) {
      return `the peer did not answer ${this.#unansweredPings} pings`;
    } else {
      this.#unansweredPings += 1;
    }
    this.peer.ping();
    return undefined;
  }

  /** A ping would queue behind the unsent bytes, so its answer cannot be expected; only progress counts. */
  #watchBlockedReader(): string | undefined {
    this.#unansweredPings = 0;
    const sendProgress = this.peer.sendProgress();
    if (this.#blocked?.sendProgress !== sendProgress) {
      this.#blocked = { sinceMs: this.clock.now(), sendProgress };
      return undefined;
    }
    const blockedMs = this.clock.now() - this.#blocked.sinceMs;
    return blockedMs >= this.limits.blockedReaderMs
      ? `the peer has read nothing for ${Math.floor(blockedMs / 1000)} seconds`
      : undefined;
  }
}
