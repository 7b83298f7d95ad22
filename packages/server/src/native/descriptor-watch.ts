import type { Libc, PollEvents, PollHandle } from './libc.js';

const EVENTS: Readonly<Record<'readable' | 'writable', PollEvents>> = {
  readable: { readable: true },
  writable: { writable: true },
};

/**
 * Tells when a descriptor can be read or written. It keeps the loop alive while it is started. One descriptor number
 * has at most one watch; a second interest needs a duplicate.
 */
export class DescriptorWatch {
  readonly #libc: Libc;
  readonly #fd: number;
  readonly #events: PollEvents;
  readonly #onReady: () => void;
  #handle: PollHandle | null = null;
  #started = false;
  #scheduled = false;

  constructor(libc: Libc, fd: number, interest: 'readable' | 'writable', onReady: () => void) {
    this.#libc = libc;
    this.#fd = fd;
    this.#events = EVENTS[interest];
    this.#onReady = onReady;
  }

  start(): void {
    if (this.#started) return;
    this.#started = true;
    if (this.#handle === null) this.#handle = this.#libc.poll(this.#fd, this.#events, this.#schedule);
    else this.#handle.start(this.#events, this.#schedule);
  }

  stop(): void {
    if (!this.#started) return;
    this.#started = false;
    this.#handle?.stop();
  }

  /** Does what is done when the descriptor is ready, as soon as the code that runs now has finished; only while started. */
  assumeReady(): void {
    process.nextTick(() => {
      if (this.#started) this.#onReady();
    });
  }

  /** Ends the watch. The descriptor stays open and may be closed right after. */
  close(): void {
    this.#started = false;
    this.#handle?.close();
    this.#handle = null;
  }

  // The poll callback comes straight from the addon: promises and ticks that it makes runnable would wait for the
  // next callback that Node itself enters. An immediate is one, and runs before the loop polls again.
  readonly #schedule = (): void => {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      if (this.#started) this.#onReady();
    });
  };
}
