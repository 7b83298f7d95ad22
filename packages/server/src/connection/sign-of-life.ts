import type { Clock, ClockTimer } from '../clock.js';

/** Looks at the connection within the time for a sign. Few enough that bytes that move show as moving in each of them. */
const LOOKS = 8;

/** A connection as it is asked. */
export interface AskedConnection {
  /** A number that differs from the last one if bytes went either way in between. */
  measureActivity(untilNextMs: number): number;
  /** Asks for an answer; whatever comes is one. */
  ask(): void;
  /** Resolves when the connection is gone. */
  readonly closed: Promise<unknown>;
}

/**
 * Finds out whether somebody is at the other end of a connection. Each byte that comes is a sign, and so is each that is
 * taken of a queue, because the question waits behind it.
 */
export class SignOfLife {
  #answer: Promise<boolean> | undefined;

  constructor(
    private readonly connection: AskedConnection,
    private readonly clock: Clock,
    private readonly withinMs: number,
  ) {}

  /** Whether a sign comes in time; not from a connection that ends. Those who want to know at once share one question. */
  get(): Promise<boolean> {
    this.#answer ??= this.#look().finally(() => {
      this.#answer = undefined;
    });
    return this.#answer;
  }

  #look(): Promise<boolean> {
    const stepMs = Math.max(1, Math.ceil(this.withinMs / LOOKS));
    const before = this.connection.measureActivity(stepMs);
    this.connection.ask();
    return new Promise((resolve) => {
      let timer: ClockTimer;
      const lookAgain = (left: number) => {
        timer = this.clock.after(stepMs, () => {
          if (this.connection.measureActivity(stepMs) !== before) resolve(true);
          else if (left === 1) resolve(false);
          else lookAgain(left - 1);
        });
      };
      lookAgain(LOOKS);
      void this.connection.closed.then(() => {
        timer.cancel();
        resolve(false);
      });
    });
  }
}
