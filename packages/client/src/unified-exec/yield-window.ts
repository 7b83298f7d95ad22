import type { Clock } from '../clock.js';
import { abortable } from '../low-level/abortable.js';
import { MAX_YIELD_MS, MIN_POLL_YIELD_MS, MIN_WINDOWS_EXEC_YIELD_MS, MIN_YIELD_MS } from './limits.js';

/** How long a new command is waited for, in milliseconds. */
export function execYieldMs(requestedMs: number, isWindows: boolean): number {
  return clamp(requestedMs, isWindows ? MIN_WINDOWS_EXEC_YIELD_MS : MIN_YIELD_MS, MAX_YIELD_MS);
}

/** How long the answer to input is waited for, in milliseconds. */
export function writeYieldMs(requestedMs: number): number {
  return clamp(requestedMs, MIN_YIELD_MS, MAX_YIELD_MS);
}

/** How long a call without input waits, in milliseconds. */
export function pollYieldMs(requestedMs: number, maxPollYieldMs: number): number {
  return clamp(requestedMs, MIN_POLL_YIELD_MS, Math.max(MIN_POLL_YIELD_MS, maxPollYieldMs));
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(Math.max(value, least), most);
}

/** Starts a timer, as `Clock.after` does. */
export type StartTimer = Clock['after'];

/** Waits until the promise has settled or the time has passed; rejects with the reason of the signal. */
export async function waitAtMost(
  promise: Promise<void>,
  ms: number,
  startTimer: StartTimer,
  signal: AbortSignal | undefined,
): Promise<void> {
  let timer: ReturnType<StartTimer> | undefined;
  const elapsed = new Promise<void>((resolve) => {
    timer = startTimer(ms, resolve);
  });
  await abortable(Promise.race([promise, elapsed]), signal).finally(() => timer?.cancel());
}

/** Timers that all stand still while anybody holds them. */
export class HoldableTimers {
  readonly #clock: Clock;
  readonly #countdowns = new Set<Countdown>();
  #holders = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  readonly start: StartTimer = (delayMs, task) => {
    const countdown = new Countdown(this.#clock, delayMs, () => {
      this.#countdowns.delete(countdown);
      task();
    });
    this.#countdowns.add(countdown);
    if (this.#holders === 0) countdown.run();
    return {
      cancel: () => {
        this.#countdowns.delete(countdown);
        countdown.stop();
      },
    };
  };

  /** Stops all timers until the function it returns is called. */
  hold(): () => void {
    if (this.#holders++ === 0) for (const countdown of this.#countdowns) countdown.stop();
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      if (--this.#holders === 0) for (const countdown of this.#countdowns) countdown.run();
    };
  }
}

/** One timer that can be stopped and goes on with what was left. */
class Countdown {
  #leftMs: number;
  #running: { readonly sinceMs: number; readonly timer: ReturnType<StartTimer> } | undefined;

  constructor(
    private readonly clock: Clock,
    delayMs: number,
    private readonly task: () => void,
  ) {
    this.#leftMs = delayMs;
  }

  run(): void {
    this.#running = { sinceMs: this.clock.now(), timer: this.clock.after(this.#leftMs, this.task) };
  }

  stop(): void {
    if (this.#running === undefined) return;
    this.#running.timer.cancel();
    this.#leftMs = Math.max(0, this.#leftMs - (this.clock.now() - this.#running.sinceMs));
    this.#running = undefined;
  }
}
