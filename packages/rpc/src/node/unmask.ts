const KEY_BYTES = 4;
const WORDS_PER_ROUND = 8;

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
  const { buffer, byteOffset, length } = payload;
  // Words begin at multiples of their size, so the key is turned by as many bytes as come before the first of them.
  const wordsAt = -byteOffset & (KEY_BYTES - 1);
  const words = new Int32Array(buffer, byteOffset + wordsAt, Math.floor((length - wordsAt) / KEY_BYTES));
  const turnedKey = Uint8Array.from(key, (_, index) => key[(wordsAt + index) % KEY_BYTES]!);
  unmaskBytes(payload, key, 0, wordsAt);
  unmaskWords(words, turnedKey);
  unmaskBytes(payload, key, wordsAt + words.byteLength, length);
}

function unmaskBytes(payload: Uint8Array, key: Uint8Array, start: number, end: number): void {
  for (let at = start; at < end; at++) payload[at]! ^= key[at % KEY_BYTES]!;
}

/** Eight words a round: the compiler checks the bounds and counts for each round, which costs more than the words do. */
function unmaskWords(words: Int32Array, keyBytes: Uint8Array<ArrayBuffer>): void {
  const key = new Int32Array(keyBytes.buffer)[0] as number;
  const roundsEnd = words.length - (words.length % WORDS_PER_ROUND);
  for (let at = 0; at < roundsEnd; at += WORDS_PER_ROUND) {
    words[at]! ^= key;
    words[at + 1]! ^= key;
    words[at + 2]! ^= key;
    words[at + 3]! ^= key;
    words[at + 4]! ^= key;
    words[at + 5]! ^= key;
    words[at + 6]! ^= key;
    words[at + 7]! ^= key;
  }
  for (let at = roundsEnd; at < words.length; at++) words[at]! ^= key;
}
