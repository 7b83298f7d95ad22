/** A pending timer of a {@link Clock}. */
export interface ClockTimer {
  cancel(): void;
}

/** Where the server takes time from, so that a test can move it. */
export interface Clock {
  /** Milliseconds since some fixed point; never jumps back. */
  now(): number;
  /** Runs `task` once after `delayMs`. A pending timer never keeps the program alive. */
  after(delayMs: number, task: () => void): ClockTimer;
}

/** Longest delay that the platform's timers take; longer ones would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => performance.now(),
  after(delayMs, task) {
    let timer: NodeJS.Timeout;
    const arm = (leftMs: number) => {
      timer = setTimeout(
        () => (leftMs > MAX_TIMER_MS ? arm(leftMs - MAX_TIMER_MS) : task()),
        Math.min(leftMs, MAX_TIMER_MS),
      );
      timer.unref();
    };
    arm(delayMs);
    return { cancel: () => clearTimeout(timer) };
  },
};
