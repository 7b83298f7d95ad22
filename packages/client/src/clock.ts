import { MAX_TIMER_MS } from '@exec-server/rpc';

/** Where this package takes time from, so that a test can move it. */
export interface Clock {
  /** Milliseconds since some fixed point; never jumps back. */
  now(): number;
  /** Runs `task` once after `delayMs` milliseconds unless it is cancelled. */
  after(delayMs: number, task: () => void): { cancel(): void };
}

export const systemClock: Clock = {
  now: () => performance.now(),
  after(delayMs, task) {
    const timer = setTimeout(task, Math.min(delayMs, MAX_TIMER_MS));
    return { cancel: () => clearTimeout(timer) };
  },
};
