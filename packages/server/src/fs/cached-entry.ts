import { statfs } from 'node:fs/promises';
import { CachedLookup, type CachedStats } from '../native/cached-lookup.js';
import { loadLibc } from '../native/libc.js';

/**
 * Kinds of file systems that only this machine writes to and whose files, once in memory, are told of without asking
 * anybody. What the kernel remembers of all others may be out of date.
 */
const LOCAL_KINDS: ReadonlySet<number> = new Set([
  0xef53, // ext2, ext3, ext4
  0x5846_5342, // xfs
  0x9123_683e, // btrfs
  0x2fc1_2fc1, // zfs
  0xf2f5_2010, // f2fs
  0x0102_1994, // tmpfs
  0x794c_7630, // overlay
]);

/** How long it is remembered what a device is, in milliseconds: its number may come to mean another. */
const REMEMBERED_MS = 1000;

interface KnownDevice {
  readonly isLocal: boolean;
  readonly until: number;
}

const devices = new Map<number, KnownDevice>();

let lookup: CachedLookup | null | undefined;

/**
 * What the kernel has at hand about an entry of a local file system, links not followed, without a way to the thread
 * pool and back. Nothing where it has to be asked properly: the file system may be remote or slow or not known yet, the
 * path not in memory, the entry not there.
 */
export function findCachedEntry(path: Uint8Array): CachedStats | undefined {
  lookup ??= loadLookup();
  const fd = lookup?.open(path);
  if (lookup === null || fd === undefined) return undefined;
  const stats = lookup.stat(fd);
  const device = stats && devices.get(stats.device);
  if (stats !== undefined && (device === undefined || device.until < performance.now())) {
    void learnDevice(lookup, fd, stats.device);
    return undefined;
  }
  lookup.close(fd);
  return device?.isLocal ? stats : undefined;
}

function loadLookup(): CachedLookup | null {
  try {
    return new CachedLookup(loadLibc());
  } catch {
    return null;
  }
}

/** Finds out what file system the open `fd` is on, and closes it. */
async function learnDevice(opened: CachedLookup, fd: number, device: number): Promise<void> {
  // One question at a time: asked about a file system that hangs, each would take a thread of the pool.
  devices.set(device, { isLocal: false, until: Number.POSITIVE_INFINITY });
  const isLocal = await statfs(`/proc/self/fd/${fd}`).then(
    // The number is signed on some architectures.
    ({ type }) => LOCAL_KINDS.has(type >>> 0),
    () => false,
  );
  opened.close(fd);
  devices.set(device, { isLocal, until: performance.now() + REMEMBERED_MS });
}
