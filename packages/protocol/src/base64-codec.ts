/** Turns bytes into standard, padded base64 and back. `decode` may rely on the text being valid. */
export interface Base64Codec {
  encode(bytes: Uint8Array): string;
  decode(text: string): Uint8Array<ArrayBuffer>;
}

/** `Uint8Array` as newer engines have it. */
interface NativeBytes {
  readonly fromBase64?: (text: string) => Uint8Array<ArrayBuffer>;
  readonly prototype: { readonly toBase64?: (this: Uint8Array) => string };
}

/** The part of Node's `Buffer` that is used here, which must not be imported: browsers load this, too. */
interface NodeBuffer {
  from(memory: ArrayBufferLike, offset: number, length: number): NodeBufferView;
}

interface NodeBufferView {
  write(text: string, encoding: 'base64'): number;
  toString(encoding: 'base64'): string;
}

/** Most characters that are handed to one call as arguments. */
const CHARACTERS_PER_CALL = 8 * 1024;

/** The fastest codec of this host. */
export function chooseBase64Codec(): Base64Codec {
  const bytes = Uint8Array as unknown as NativeBytes;
  const { fromBase64 } = bytes;
  const { toBase64 } = bytes.prototype;
  if (fromBase64 !== undefined && toBase64 !== undefined) {
    return { encode: (data) => toBase64.call(data), decode: (text) => fromBase64.call(Uint8Array, text) };
  }
  const { Buffer } = globalThis as { readonly Buffer?: NodeBuffer };
  return Buffer === undefined ? PORTABLE_CODEC : createBufferCodec(Buffer);
}

function createBufferCodec(buffer: NodeBuffer): Base64Codec {
  return {
    encode: (bytes) => buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64'),
    decode(text) {
      // Memory of its own: a small `Buffer` shares one with others, and its `slice` does not copy.
      const bytes = new Uint8Array(decodedLength(text));
      buffer.from(bytes.buffer, 0, bytes.length).write(text, 'base64');
      return bytes;
    },
  };
}

function decodedLength(text: string): number {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  return (text.length / 4) * 3 - padding;
}

const PORTABLE_CODEC: Base64Codec = {
  encode(bytes) {
    let binary = '';
    for (let at = 0; at < bytes.length; at += CHARACTERS_PER_CALL) {
      binary += String.fromCharCode(...bytes.subarray(at, at + CHARACTERS_PER_CALL));
    }
    return btoa(binary);
  },
  decode(text) {
    const binary = atob(text);
    const bytes = new Uint8Array(binary.length);
    for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
    return bytes;
  },
};
