/** Writes `bytes` in base64 into `into` from `at` on, where there has to be room, and returns the bytes written. */
export type Base64Writer = (bytes: Uint8Array, into: Buffer, at: number) => number;

/** Bytes that one group of symbols spells, and those symbols. */
const GROUP_BYTES = 3;
const GROUP_SYMBOLS = 4;

/**
 * Bytes that are a string on their way, whole groups. Strings of this size live and die where V8 collects cheaply, and in
 * the cache of the processor; those of a mebibyte are mapped, faulted in and unmapped one by one.
 */
const SLICE_BYTES = 16 * 1024 * GROUP_BYTES;

/** From so many bytes on the writer of the host is worth its call. */
export const MIN_HOST_BYTES = 1024;

let hostWriter: Base64Writer | undefined;

/** How many symbols spell so many bytes. */
export function base64Length(bytes: number): number {
  return Math.ceil(bytes / GROUP_BYTES) * GROUP_SYMBOLS;
}

/** Has {@link writeBase64} of this process use a writer that needs no strings, for all that is long enough. */
export function useBase64Writer(writer: Base64Writer): void {
  hostWriter = writer;
}

/** See {@link Base64Writer}. Node itself spells base64 into strings only, which are then copied. */
export function writeBase64(bytes: Uint8Array, into: Buffer, at: number): number {
  if (hostWriter !== undefined && bytes.length >= MIN_HOST_BYTES) return hostWriter(bytes, into, at);
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let end = at;
  for (let start = 0; start < source.length; start += SLICE_BYTES)
    end += into.write(source.toString('base64', start, start + SLICE_BYTES), end, 'latin1');
  return end - at;
}
