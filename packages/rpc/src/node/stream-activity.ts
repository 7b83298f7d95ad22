import type { Readable, Writable } from 'node:stream';

/** Part of the time between two looks after which bytes that have not moved stand still; Node may take twice that. */
const STALL_SHARE = 3;

/** What sockets have and other streams do not. */
interface CountingInput {
  readonly bytesRead?: number;
}

interface TimedOutput {
  setTimeout?(timeoutMs: number): unknown;
}

/**
 * Tells whether bytes go through a pair of streams, which may be the same.
 *
 * What the system takes of a large write shows in no counter of a socket before all of it is gone, and a slow network can
 * need minutes for that. The socket's own timeout sees it, so it is armed whenever bytes wait.
 */
export class StreamActivity {
  readonly #input: Readable & CountingInput;
  readonly #output: Writable & TimedOutput;
  #receivedCount = 0;
  #sendCount = 0;
  #isStalled = false;
  #isArmed = false;
  #lastQueuedBytes = 0;

  constructor(input: Readable, output: Writable) {
    this.#input = input;
    this.#output = output;
    output.on('timeout', () => {
      this.#isStalled = true;
    });
  }

  /** Something came, from a stream that does not count bytes itself. */
  noteReceived(): void {
    this.#receivedCount++;
  }

  /** See `measureActivity` of a transport. */
  measure(untilNextMs: number): number {
    if (this.#hasSent()) this.#sendCount++;
    this.#arm(untilNextMs);
    return this.#receivedCount + this.#sendCount + (this.#input.bytesRead ?? 0);
  }

  #hasSent(): boolean {
    const queuedBytes = this.#output.writableLength;
    const hasChanged = queuedBytes !== this.#lastQueuedBytes;
    this.#lastQueuedBytes = queuedBytes;
    // What has all been taken says nothing of the other side.
    if (queuedBytes === 0) return false;
    return this.#isArmed ? !this.#isStalled : hasChanged;
  }

  #arm(untilNextMs: number): void {
    const isQueued = this.#output.writableLength > 0;
    this.#isStalled = false;
    if (!isQueued && !this.#isArmed) return;
    this.#isArmed = isQueued && this.#output.setTimeout !== undefined;
    this.#output.setTimeout?.(isQueued ? Math.max(1, Math.floor(untilNextMs / STALL_SHARE)) : 0);
  }
}
