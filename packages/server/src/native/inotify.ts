import { constants } from 'node:fs';
import { OsError } from '../os-error.js';
import { toCString } from './c-strings.js';
import { EAGAIN, EBADF } from './constants.js';
import { DescriptorWatch } from './descriptor-watch.js';
import { O_CLOEXEC, retryInterrupted } from './descriptors.js';
import { checkResult, type Libc, loadLibc } from './libc.js';

/** Bits of masks: what may happen to a watched directory and the names in it, and how to add a watch. */
export const InotifyMask = {
  modify: 0x2,
  attributes: 0x4,
  closeWrite: 0x8,
  movedFrom: 0x40,
  movedTo: 0x80,
  create: 0x100,
  delete: 0x200,
  /** The watched directory itself was deleted. */
  deleteSelf: 0x400,
  /** The watched directory itself was renamed. */
  moveSelf: 0x800,
  unmount: 0x2000,
  queueOverflow: 0x4000,
  ignored: 0x8000,
  onlyDirectory: 0x0100_0000,
  dontFollow: 0x0200_0000,
  /** Adds to the mask of a watch that exists already, instead of replacing it. */
  add: 0x2000_0000,
  isDirectory: 0x4000_0000,
} as const;

export interface InotifyEvent {
  /** The number that `add` returned; -1 where the event concerns the whole queue. */
  readonly watch: number;
  readonly mask: number;
  /** Name in the watched directory, as latin1 text: one character per byte. Empty for the directory itself. */
  readonly name: string;
}

/** `struct inotify_event` without its name: watch, mask, cookie, length of the name. */
const HEADER_BYTES = 16;

/** Most that one read takes from the queue: some hundred events at least, each at most 272 bytes. */
const READ_BYTES = 65_536;

/** Reads per wake-up; what is left waits for the next, so that a burst cannot hold up everything else. */
const READS_PER_WAKE = 8;

/** All instances read into this one; events are copied out before anybody else can. */
const scratch = Buffer.allocUnsafeSlow(READ_BYTES);

/** An inotify queue of the kernel. It keeps the loop alive until it is closed. */
export class Inotify {
  readonly #libc: Libc;
  readonly #fd: number;
  readonly #ready: DescriptorWatch;
  readonly #onEvent: (event: InotifyEvent) => void;
  #closed = false;

  /** Throws where there is no inotify, and an `OsError` when the user has too many instances (EMFILE). */
  constructor(onEvent: (event: InotifyEvent) => void) {
    this.#libc = loadLibc();
    this.#fd = checkResult(
      this.#libc,
      this.#libc.inotify_init1(constants.O_NONBLOCK | O_CLOEXEC),
      'inotify_init1',
    );
    this.#onEvent = onEvent;
    this.#ready = new DescriptorWatch(this.#libc, this.#fd, 'readable', () => this.#readReady());
    this.#ready.start();
  }

  /** Watches what is at `path` now. The same file or directory always has the same number. Throws an `OsError`. */
  add(path: Uint8Array, mask: number): number {
    if (this.#closed) throw new OsError(EBADF, 'inotify_add_watch');
    const text = toCString(path, 'inotify_add_watch');
    return checkResult(this.#libc, this.#libc.inotify_add_watch(this.#fd, text, mask), 'inotify_add_watch');
  }

  /** Ends a watch. Its events that are queued already still arrive. One that is gone is fine. */
  remove(watch: number): void {
    if (!this.#closed) this.#libc.inotify_rm_watch(this.#fd, watch);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#ready.close();
    this.#libc.close(this.#fd);
  }

  #readReady(): void {
    for (let reads = 0; reads < READS_PER_WAKE && !this.#closed; reads++) {
      const length = retryInterrupted(this.#libc, () => this.#libc.read(this.#fd, scratch, READ_BYTES));
      if (length < 0 && this.#libc.errno() !== EAGAIN) throw new OsError(this.#libc.errno(), 'read');
      if (length <= 0) return;
      for (const event of parseEvents(scratch.subarray(0, length))) {
        if (this.#closed) return;
        this.#onEvent(event);
      }
    }
  }
}

/** The architectures that libc.ts admits are all little-endian. */
function* parseEvents(buffer: Buffer): Generator<InotifyEvent> {
  for (let at = 0; at + HEADER_BYTES <= buffer.length; ) {
    const nameEnd = at + HEADER_BYTES + buffer.readUInt32LE(at + 12);
    const padded = buffer.toString('latin1', at + HEADER_BYTES, nameEnd);
    const end = padded.indexOf('\0');
    yield {
      watch: buffer.readInt32LE(at),
      mask: buffer.readUInt32LE(at + 4),
      name: end === -1 ? padded : padded.slice(0, end),
    };
    at = nameEnd;
  }
}
