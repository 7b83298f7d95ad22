import { overloaded } from '@exec-server/protocol';
import type { Peer } from '@exec-server/rpc';
import type { Clock, ClockTimer } from '../clock.js';
import type { Logger } from '../telemetry/logger.js';

/** WebSocket close codes that this server sends. */
const CLOSE_GOING_AWAY = 1001;
const CLOSE_PROTOCOL_ERROR = 1002;
const CLOSE_POLICY_VIOLATION = 1008;
const CLOSE_TRY_AGAIN_LATER = 1013;

/** The id of an answer to no request. */
const NO_REQUEST_ID = -1;

/** How long a client that is sent away has to read why, in milliseconds. */
const SENT_AWAY_MS = 1_000;

/** The ways in which the server ends a connection: what the client is told, and what the log. */
export class Farewell {
  #timer: ClockTimer | undefined;
  #isSentAway = false;

  constructor(
    private readonly peer: Pick<Peer, 'close' | 'destroy' | 'respondError'>,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /** The server ends. */
  goAway(reason: string): void {
    this.peer.close({ code: CLOSE_GOING_AWAY, reason });
  }

  /** The client does not keep to the protocol. */
  endBreach(reason: string): void {
    this.logger.warn({ reason }, 'connection ended');
    this.peer.close({ code: CLOSE_PROTOCOL_ERROR, reason });
  }

  /** The client may not stay, whatever it sends. */
  endStay(reason: string): void {
    this.logger.info({ reason }, 'connection ended');
    this.peer.close({ code: CLOSE_POLICY_VIOLATION, reason });
  }

  /** The server has no room for what the client sends; says so also where there are no close frames that could. */
  sendAway(reason: string): void {
    this.#isSentAway = true;
    this.logger.warn({ reason }, 'connection ended');
    this.peer.respondError(NO_REQUEST_ID, overloaded(reason));
    this.peer.close({ code: CLOSE_TRY_AGAIN_LATER, reason });
    this.#timer = this.clock.after(SENT_AWAY_MS, () => this.peer.destroy(reason));
  }

  /** Whether `sendAway` was called. */
  get isSentAway(): boolean {
    return this.#isSentAway;
  }

  /** Ends the connection at once; what is queued is lost. */
  drop(reason: string): void {
    this.logger.warn({ reason }, 'connection dropped');
    this.peer.destroy(reason);
  }

  /** The connection is gone. */
  end(): void {
    this.#timer?.cancel();
  }
}
