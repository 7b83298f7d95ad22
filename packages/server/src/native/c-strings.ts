import { OsError } from '../os-error.js';
import { EINVAL } from './constants.js';
import type { Libc } from './libc.js';

const POINTER_BYTES = 8;

/** `text` as C reads it. Throws EINVAL for a NUL inside, because C would take it for the end. */
export function toCString(text: string | Uint8Array, syscall: string): Uint8Array {
  const bytes = typeof text === 'string' ? Buffer.from(text) : text;
  if (bytes.includes(0)) throw new OsError(EINVAL, syscall);
  const terminated = Buffer.alloc(bytes.length + 1);
  terminated.set(bytes);
  return terminated;
}

/**
 * A NULL-terminated array of C strings in one piece of memory, pointers first. The pointers are absolute: the result
 * must stay referenced, and uncopied, for as long as C uses it.
 */
export function toCStringArray(libc: Libc, strings: readonly string[], syscall: string): Uint8Array {
  const tableBytes = (strings.length + 1) * POINTER_BYTES;
  const textBytes = strings.reduce((total, text) => total + Buffer.byteLength(text) + 1, 0);
  const memory = Buffer.alloc(tableBytes + textBytes);
  const base = libc.address(memory);
  let offset = tableBytes;
  strings.forEach((text, index) => {
    if (text.includes('\0')) throw new OsError(EINVAL, syscall);
    memory.writeBigUInt64LE(base + BigInt(offset), index * POINTER_BYTES);
    offset += memory.write(text, offset) + 1;
  });
  return memory;
}
