import { outputBlocks } from './block-pool.js';
import { EAGAIN, MAX_CHUNK_BYTES } from './constants.js';
import { DescriptorWatch } from './descriptor-watch.js';
import { retryInterrupted } from './descriptors.js';
import type { OutputSource, OutputStream } from './launch.js';
import type { Libc } from './libc.js';
import { enlargePipe, forgetLargePipe } from './pipe-capacity.js';

/** Most that one turn of the loop reads of one stream, in bytes: others wait for their turn meanwhile. */
const MAX_TURN_BYTES = 4 * MAX_CHUNK_BYTES;

/** A stream that has carried so many bytes is one of many: its pipe is enlarged. */
const ENLARGE_AFTER_BYTES = 4 * MAX_CHUNK_BYTES;

/** A turn that drains a large pipe of at least so many bytes is followed by a rest: the writer is busy, and slower. */
const BUSY_TURN_BYTES = 4_096;

/**
 * So many turns in a row, each of less than `BUSY_TURN_BYTES` and with more written while they read, are a writer of many
 * small pieces: its pipe rests, too.
 */
const CHATTY_TURNS = 4;

/** A rest that gathers more than this ends the resting of a pipe that has its usual size: soon it would be full, in bytes. */
const MAX_CHATTER_BYTES = 16_384;

/**
 * How long a pipe that was drained is left to fill up, in milliseconds. Waking up for each small write of a busy writer
 * costs many times more than the bytes do.
 */
const REST_MS = 1;

const ignore = (): void => {};

/** Every source reads into this one, and replaces it when it hands it over: a chunk pins no more than its own bytes. */
let spare = outputBlocks.take();

/** Reads a pipe or a pty master of ours to its end. Owns the descriptor, which must be non-blocking. */
export class DescriptorSource implements OutputSource {
  readonly stream: OutputStream;
  readonly #libc: Libc;
  readonly #fd: number;
  readonly #watch: DescriptorWatch;
  readonly #onClosed: () => void;
  #state: 'idle' | 'reading' | 'paused' | 'closed' = 'idle';
  /** Whether the pipe has its usual size, has been enlarged, or has to stay as it is. */
  #capacity: 'usual' | 'large' | 'fixed';
  /** Read so far, counted until that has decided about the capacity. */
  #bytesRead = 0;
  /** Turns in a row that a writer of small pieces has kept busy. */
  #chattyTurns = 0;
  /** Reads of this turn that found something. */
  #pieces = 0;
  #restTimer: NodeJS.Timeout | undefined;
  #resting = false;
  #sibling: DescriptorSource | undefined;
  #onChunk: (chunk: Buffer) => void = ignore;
  #onEnd: () => void = ignore;

  /** `onClosed` is called once, when the descriptor has been released, before `onEnd`. */
  constructor(libc: Libc, stream: OutputStream, fd: number, onClosed: () => void = ignore) {
    this.stream = stream;
    this.#libc = libc;
    this.#fd = fd;
    this.#onClosed = onClosed;
    this.#capacity = stream === 'pty' ? 'fixed' : 'usual';
    this.#watch = new DescriptorWatch(libc, fd, 'readable', () => this.#readTurn());
  }

  start(onChunk: (chunk: Buffer) => void, onEnd: () => void): void {
    if (this.#state === 'closed') {
      onEnd();
      return;
    }
    if (this.#state !== 'idle') throw new Error(`the ${this.stream} of this process is being read already`);
    this.#state = 'reading';
    this.#onChunk = onChunk;
    this.#onEnd = onEnd;
    this.#watch.start();
  }

  pause(): void {
    if (this.#state !== 'reading') return;
    this.#state = 'paused';
    this.#resting = false;
    this.#watch.stop();
  }

  resume(): void {
    if (this.#state !== 'paused') return;
    this.#state = 'reading';
    this.#watch.start();
  }

  /** Names the other stream of the process. What has waited there was written before, and is read before. */
  readAfter(sibling: DescriptorSource): void {
    this.#sibling = sibling;
  }

  /** Reads on without a rest: no more is coming, or what comes is an answer that somebody waits for. */
  wake(): void {
    this.#chattyTurns = 0;
    if (!this.#resting) return;
    this.#resting = false;
    this.#watch.start();
  }

  /** Looks for output as soon as the code that runs now has finished, without waiting to be told of some. */
  lookSoon(): void {
    this.#watch.assumeReady();
  }

  destroy(): void {
    if (this.#state !== 'closed') this.#finish();
  }

  /** Reads what is ready, but no more than a fair share, and nothing more once the receiver has had enough. */
  #readTurn(afterRest = false): void {
    if (this.#sibling !== undefined) this.#sibling.#endRest();
    this.#pieces = 0;
    let total = 0;
    let length = MAX_CHUNK_BYTES;
    while (length === MAX_CHUNK_BYTES && total < MAX_TURN_BYTES && this.#state === 'reading') {
      length = this.#readChunk();
      total += length;
    }
    if (this.#state !== 'reading') return;
    if (this.#capacity === 'usual') this.#enlargeIfBusy(total);
    const isBusy = this.#capacity === 'large' && total >= BUSY_TURN_BYTES;
    const isChatty = this.stream !== 'pty' && this.#countChatter(total, afterRest);
    const drained = length < MAX_CHUNK_BYTES;
    if (drained && (isBusy || isChatty)) this.#rest();
    else this.#watch.start();
  }

  /** Whether the writer writes small pieces one after the other. A single answer now and then is never held up. */
  #countChatter(total: number, afterRest: boolean): boolean {
    const goesOn = afterRest
      ? total > 0 && total <= MAX_CHATTER_BYTES
      : this.#pieces > 1 && total < BUSY_TURN_BYTES;
    this.#chattyTurns = goesOn ? this.#chattyTurns + 1 : 0;
    return this.#chattyTurns >= CHATTY_TURNS;
  }

  /** Collects what is ready into one chunk. A pty gives out 4 KiB at a time, a pipe what its writers wrote so far. */
  #readChunk(): number {
    let length = 0;
    let atEnd = false;
    while (length < MAX_CHUNK_BYTES && !atEnd) {
      const room = length === 0 ? spare : spare.subarray(length);
      const result = retryInterrupted(this.#libc, () => this.#libc.read(this.#fd, room, room.length));
      if (result > 0) {
        length += result;
        this.#pieces++;
      } else if (result < 0 && this.#libc.errno() === EAGAIN) break;
      // Zero ends a pipe. A pty master ends with EIO once the last holder of its other side is gone.
      else atEnd = true;
    }
    if (length > 0) this.#onChunk(takeChunk(length));
    // The receiver may have destroyed this source on the last chunk.
    if (atEnd) this.destroy();
    return length;
  }

  #enlargeIfBusy(bytes: number): void {
    this.#bytesRead += bytes;
    if (this.#bytesRead < ENLARGE_AFTER_BYTES) return;
    this.#capacity = enlargePipe(this.#libc, this.#fd) ? 'large' : 'fixed';
  }

  #rest(): void {
    this.#resting = true;
    this.#watch.stop();
    if (this.#restTimer === undefined) this.#restTimer = setTimeout(() => this.#endRest(), REST_MS);
    else this.#restTimer.refresh();
  }

  #endRest(): void {
    if (!this.#resting) return;
    this.#resting = false;
    this.#readTurn(true);
  }

  #finish(): void {
    this.#state = 'closed';
    this.#resting = false;
    clearTimeout(this.#restTimer);
    this.#watch.close();
    this.#libc.close(this.#fd);
    if (this.#capacity === 'large') forgetLargePipe();
    this.#onClosed();
    this.#onEnd();
  }
}

function takeChunk(length: number): Buffer {
  const filled = spare;
  if (length === MAX_CHUNK_BYTES) {
    spare = outputBlocks.take();
    return filled;
  }
  const chunk = Buffer.allocUnsafeSlow(length);
  filled.copy(chunk, 0, 0, length);
  return chunk;
}
