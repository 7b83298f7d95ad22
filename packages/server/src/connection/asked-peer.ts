import type { Peer, Transport } from '@exec-server/rpc';
import type { AskedConnection } from './sign-of-life.js';

/** Asks a client with a frame that its WebSocket answers, or with a request where there are no such frames. */
export class AskedPeer implements AskedConnection {
  constructor(
    private readonly transport: Transport,
    private readonly peer: Pick<Peer, 'request' | 'closed'>,
    /** How long an answer is waited for, in milliseconds. */
    private readonly timeoutMs: number,
  ) {}

  /** Whether there is anything to ask with, and a way to see what comes of it. */
  canBeAsked(answersRequests: boolean): boolean {
    if (this.transport.measureActivity === undefined) return false;
    return answersRequests || this.transport.ping !== undefined;
  }

  get closed(): Promise<unknown> {
    return this.peer.closed;
  }

  measureActivity(untilNextMs: number): number {
    return this.transport.measureActivity?.(untilNextMs) ?? 0;
  }

  ask(): void {
    if (this.transport.ping !== undefined) this.transport.ping();
    else {
      const { timeoutMs } = this;
      this.peer.request('client/status', null, { exempt: true, timeoutMs }).catch(() => {});
    }
  }
}
