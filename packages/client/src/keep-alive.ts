import type { Clock } from './clock.js';

/** How a connection is watched for signs of life. With the defaults a dead one is found within 20 seconds. */
export interface KeepAliveOptions {
  /** Silence after which the server is asked for a sign of life, and then again, in milliseconds. @default 4000 */
  readonly pingIntervalMs?: number;
  /** Questions in a row that may stay without any byte from the server. @default 2 */
  readonly maxUnansweredPings?: number;
}

const DEFAULT_PING_INTERVAL_MS = 4_000;
const DEFAULT_MAX_UNANSWERED_PINGS = 2;

/**
 * Calls on their way at which a server that handles one after the other may read no further, so that it does not see a
 * ping either. The reference reads 128 ahead.
 */
const READ_AHEAD_CALLS = 100;

/** A connection as it is watched. */
export interface WatchedConnection {
  /** A number that differs from the last one if bytes went either way in between. */
  measureActivity(untilNextMs: number): number;
  /** True while this side does not read: an answer may have come and lie unread. */
  readonly isPaused: boolean;
  /** Calls that the server has not answered. */
  readonly unansweredCalls: number;
  /** Whether a question is answered past calls that take their time. */
  readonly answersAtOnce: boolean;
  /** Sends a ping frame, where there are such. */
  ping?(): void;
  /** Asks with a request, where there are none; settles with the answer, never rejects. */
  ask(): Promise<unknown>;
  /** Ends the connection. */
  drop(reason: string): void;
}

/**
 * Asks a silent server for a sign of life and drops the connection when none comes; every byte is one.
 *
 * It goes by looks at the connection, not by the time between them: after a sleep, or when the loop was blocked, what has
 * come meanwhile is read before the next look.
 */
export class KeepAlive {
  readonly #connection: WatchedConnection;
  readonly #clock: Clock;
  readonly #pingIntervalMs: number;
  readonly #maxUnansweredPings: number;
  #lastActivity: number;
  #unansweredPings = 0;
  #isAsking = false;
  #timer: { cancel(): void };

  constructor(connection: WatchedConnection, options: KeepAliveOptions, clock: Clock) {
    this.#connection = connection;
    this.#clock = clock;
    this.#pingIntervalMs = options.pingIntervalMs ?? DEFAULT_PING_INTERVAL_MS;
    this.#maxUnansweredPings = options.maxUnansweredPings ?? DEFAULT_MAX_UNANSWERED_PINGS;
    this.#lastActivity = connection.measureActivity(this.#pingIntervalMs);
    this.#timer = this.#schedule();
  }

  stop(): void {
    this.#timer.cancel();
  }

  #schedule(): { cancel(): void } {
    return this.#clock.after(this.#pingIntervalMs, () => this.#look());
  }

  #look(): void {
    const activity = this.#connection.measureActivity(this.#pingIntervalMs);
    const isSilent = activity === this.#lastActivity && this.#silenceMeansSomething();
    this.#lastActivity = activity;
    if (!isSilent) {
      this.#unansweredPings = 0;
    } else if (this.#unansweredPings < this.#maxUnansweredPings) {
      this.#unansweredPings++;
      this.#ask();
    } else {
      this.#connection.drop(this.#describeSilence());
      return;
    }
    this.#timer = this.#schedule();
  }

  #silenceMeansSomething(): boolean {
    const { isPaused, answersAtOnce, unansweredCalls } = this.#connection;
    if (isPaused) return false;
    if (answersAtOnce) return true;
    // Whatever was called before our own question is answered before it, however long it takes.
    return this.#connection.ping === undefined
      ? this.#isAsking || unansweredCalls === 0
      : unansweredCalls < READ_AHEAD_CALLS;
  }

  #ask(): void {
    if (this.#connection.ping !== undefined) {
      this.#connection.ping();
    } else if (!this.#isAsking) {
      this.#isAsking = true;
      void this.#connection.ask().then(() => {
        this.#isAsking = false;
      });
    }
  }

  #describeSilence(): string {
    const seconds = (this.#pingIntervalMs * (this.#unansweredPings + 1)) / 1000;
    return `no byte came from the server for ${seconds} seconds, although it was asked for a sign of life`;
  }
}
