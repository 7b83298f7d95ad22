const KEY_BYTES = 4;

/** Payloads below this size, in bytes, are done before a view of their words is made. */
const MIN_WORDWISE_BYTES = 256;

/** Undoes the masking of a payload (RFC 6455, section 5.3), in place. */
export function unmask(payload: Uint8Array, key: Uint8Array): void {
  // Programs that have no browser to protect mask with zeros.
  if (key.every((byte) => byte === 0)) return;
  if (payload.length < MIN_WORDWISE_BYTES) {
    unmaskBytes(payload, key, 0, payload.length);
    return;
  }
  const { byteOffset, length } = payload;
  const wordsAt = (KEY_BYTES - (byteOffset % KEY_BYTES)) % KEY_BYTES;
  const words = new Uint32Array(
    payload.buffer,
    byteOffset + wordsAt,
    Math.floor((length - wordsAt) / KEY_BYTES),
  );
  unmaskBytes(payload, key, 0, wordsAt);
  unmaskWords(
    words,
    Uint8Array.from(key, (_, index) => key[(wordsAt + index) % KEY_BYTES] as number),
  );
  unmaskBytes(payload, key, wordsAt + words.byteLength, length);
}

function unmaskBytes(payload: Uint8Array, key: Uint8Array, start: number, end: number): void {
  for (let at = start; at < end; at++)
    payload[at] = (payload[at] as number) ^ (key[at % KEY_BYTES] as number);
}

function unmaskWords(words: Uint32Array, key: Uint8Array<ArrayBuffer>): void {
  const keyWord = new Uint32Array(key.buffer)[0] as number;
  for (let at = 0; at < words.length; at++) words[at] = (words[at] as number) ^ keyWord;
}
