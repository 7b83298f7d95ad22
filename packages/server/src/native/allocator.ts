import type { Libc } from './libc.js';

const M_TRIM_THRESHOLD = -1;
const M_MMAP_THRESHOLD = -3;

/** Freed memory that the C allocator keeps for what is allocated next, and the size from which on it keeps none, in bytes. */
const KEPT_BYTES = 4 * 1024 * 1024;

/**
 * Has the C allocator keep a little of what is freed. Chunks of output and encoded messages come and go as fast as they
 * are read; left as it is, glibc gives their pages back and takes them anew all the time, and the page faults cost
 * several times what encoding does. It concerns the whole process; without glibc nothing happens.
 */
export function keepFreedMemory(libc: Libc): void {
  libc.mallopt?.(M_TRIM_THRESHOLD, KEPT_BYTES);
  libc.mallopt?.(M_MMAP_THRESHOLD, KEPT_BYTES);
}
