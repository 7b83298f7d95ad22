const ID_BYTES = 16;

/** A name that nobody else takes: 32 hexadecimal digits. Works in pages, too, that have no `crypto.randomUUID`. */
export function createRandomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(ID_BYTES));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
