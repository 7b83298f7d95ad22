import { constants } from 'node:fs';
import { constants as osConstants } from 'node:os';
import { EINVAL } from './constants.js';
import { O_CLOEXEC } from './descriptors.js';
import type { Libc } from './libc.js';

const { ENOSYS, EPERM } = osConstants.errno;

// Linux values that `node:fs` does not export; the same on every architecture that libc.ts admits.
const SYS_OPENAT2 = 437;
const AT_FDCWD = -100;
const AT_EMPTY_PATH = 0x1000;
const AT_STATX_DONT_SYNC = 0x4000;
const O_PATH = 0o10000000;
const RESOLVE_CACHED = 0x20;
const STATX_BASIC_STATS = 0x7ff;
const STATX_BTIME = 0x800;

/** Longest path that the kernel takes, in bytes, with the NUL at its end. */
const MAX_PATH_BYTES = 4096;

/** `struct statx`: its size in bytes, and where its members begin. */
const STATX_BYTES = 256;
const STATX_MODE_AT = 28;
const STATX_SIZE_AT = 40;
const STATX_BTIME_AT = 80;
const STATX_MTIME_AT = 112;
const STATX_DEVICE_MAJOR_AT = 136;
const STATX_DEVICE_MINOR_AT = 140;

const NANOSECONDS_AT = 8;
const NANOSECONDS_PER_MILLISECOND = 1e6;

const EMPTY_PATH = Buffer.from('\0');

/** What the kernel remembers of a file. */
export interface CachedStats {
  /** Number of the device that its file system is on. */
  readonly device: number;
  /** Type and permission bits. */
  readonly mode: number;
  /** Bytes. */
  readonly size: number;
  /** Milliseconds since 1970, rounded down; 0 if unknown. */
  readonly createdAtMs: number;
  /** Milliseconds since 1970, rounded down. */
  readonly modifiedAtMs: number;
}

/**
 * Looks files up in the memory of the kernel alone. Where an answer would have to come from a disk or from another
 * machine there is none: this never waits, and so it may run on the event loop.
 */
export class CachedLookup {
  readonly #path = Buffer.alloc(MAX_PATH_BYTES);
  readonly #how = encodeOpenHow(O_PATH | constants.O_NOFOLLOW | O_CLOEXEC, RESOLVE_CACHED);
  readonly #stats = new DataView(new ArrayBuffer(STATX_BYTES));
  readonly #statsBytes = new Uint8Array(this.#stats.buffer);
  #isSupported = true;

  constructor(private readonly libc: Pick<Libc, 'openat2' | 'statx' | 'close' | 'errno'>) {}

  /**
   * A descriptor of what `path` names, a symbolic link included, which may be looked at but not read. Nothing where that
   * cannot be had at once, for whatever reason.
   */
  open(path: Uint8Array): number | undefined {
    if (!this.#isSupported || path.length >= MAX_PATH_BYTES || path.includes(0)) return undefined;
    this.#path.set(path);
    this.#path[path.length] = 0;
    const fd = this.libc.openat2(SYS_OPENAT2, AT_FDCWD, this.#path, this.#how, this.#how.length);
    if (fd >= 0) return fd;
    // Kernels before 5.12 know neither the call nor the flag, and some containers forbid what they do not know.
    const errno = this.libc.errno();
    if (errno === ENOSYS || errno === EINVAL || errno === EPERM) this.#isSupported = false;
    return undefined;
  }

  /** Nothing where the kernel does not tell. */
  stat(fd: number): CachedStats | undefined {
    const flags = AT_EMPTY_PATH | AT_STATX_DONT_SYNC;
    const mask = STATX_BASIC_STATS | STATX_BTIME;
    const result = this.libc.statx?.(fd, EMPTY_PATH, flags, mask, this.#statsBytes) ?? -1;
    if (result < 0) return undefined;
    const stats = this.#stats;
    return {
      device:
        stats.getUint32(STATX_DEVICE_MAJOR_AT, true) * 2 ** 32 + stats.getUint32(STATX_DEVICE_MINOR_AT, true),
      mode: stats.getUint16(STATX_MODE_AT, true),
      size: Number(stats.getBigUint64(STATX_SIZE_AT, true)),
      createdAtMs: readMs(stats, STATX_BTIME_AT),
      modifiedAtMs: readMs(stats, STATX_MTIME_AT),
    };
  }

  close(fd: number): void {
    this.libc.close(fd);
  }
}

/** `struct open_how`: flags, mode and how the path is resolved. */
function encodeOpenHow(flags: number, resolve: number): Uint8Array {
  return new Uint8Array(BigUint64Array.of(BigInt(flags), 0n, BigInt(resolve)).buffer);
}

/** Nanoseconds count up from the second before, also before 1970. */
function readMs(stats: DataView, at: number): number {
  const seconds = Number(stats.getBigInt64(at, true));
  const nanoseconds = stats.getUint32(at + NANOSECONDS_AT, true);
  return seconds * 1000 + Math.floor(nanoseconds / NANOSECONDS_PER_MILLISECOND);
}
