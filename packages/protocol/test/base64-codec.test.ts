import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type Base64Codec, chooseBase64Codec } from '../src/base64-codec.js';

type Extended = typeof Uint8Array & { fromBase64?: unknown; prototype: { toBase64?: unknown } };

const Bytes = Uint8Array as Extended;
const { Buffer: NodeBuffer } = globalThis;
const native = { fromBase64: Bytes.fromBase64, toBase64: Bytes.prototype.toBase64 };

afterEach(() => {
  vi.unstubAllGlobals();
  Object.assign(Bytes, native.fromBase64 === undefined ? {} : { fromBase64: native.fromBase64 });
  if (native.fromBase64 === undefined) delete Bytes.fromBase64;
  if (native.toBase64 === undefined) delete Bytes.prototype.toBase64;
  else Bytes.prototype.toBase64 = native.toBase64;
});

/** The codec of a host that has what is named and nothing else. */
function codecOf(host: 'an engine with methods' | 'Node' | 'a plain browser'): Base64Codec {
  delete Bytes.fromBase64;
  delete Bytes.prototype.toBase64;
  if (host === 'an engine with methods') {
    // Stands in for the engine's own where this one is too old, and proves that it is asked.
    Bytes.fromBase64 = (text: string) => new Uint8Array(NodeBuffer.from(text, 'base64'));
    Bytes.prototype.toBase64 = function (this: Uint8Array) {
      return NodeBuffer.from(this).toString('base64');
    };
  }
  if (host !== 'Node') vi.stubGlobal('Buffer', undefined);
  return chooseBase64Codec();
}

describe.each(['an engine with methods', 'Node', 'a plain browser'] as const)('on %s', (host) => {
  it('encodes and decodes what Buffer does, also in the middle of other memory', () => {
    const codec = codecOf(host);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), fc.nat({ max: 5 }), (bytes, offset) => {
        const part = new Uint8Array([...new Uint8Array(offset).fill(7), ...bytes, 8]).subarray(offset, -1);
        const text = codec.encode(part);
        expect(text).toBe(NodeBuffer.from(bytes).toString('base64'));
        expect(codec.decode(text)).toEqual(bytes);
      }),
    );
  });

  it('takes megabytes', () => {
    const codec = codecOf(host);
    const bytes = new Uint8Array(3 * 1024 * 1024 + 1).map((_, i) => i * 31);
    const decoded = codec.decode(codec.encode(bytes));
    expect(NodeBuffer.compare(decoded, bytes)).toBe(0);
  });

  it('gives plain bytes in memory of their own', () => {
    const bytes = codecOf(host).decode('QUJD');
    expect(Object.getPrototypeOf(bytes)).toBe(Uint8Array.prototype);
    expect(bytes.buffer.byteLength).toBe(3);
  });
});
