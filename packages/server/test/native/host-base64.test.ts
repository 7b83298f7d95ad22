import { randomBytes } from 'node:crypto';
import { spliceBase64 } from '@exec-server/rpc/node';
import { describe, expect, it } from 'vitest';
import { useHostBase64 } from '../../src/native/host-base64.js';
import { type Libc, loadLibc } from '../../src/native/libc.js';

const libc = loadLibc();
const NOTHING = Buffer.alloc(0);

function encode(bytes: Uint8Array): string {
  return spliceBase64(NOTHING, '', bytes, NOTHING).toString('latin1');
}

/** Has every long message from now on spelled by this function; returns how often it was called. */
function useCounted(spell: NonNullable<Libc['simdutfToBase64']>): () => number {
  let calls = 0;
  useHostBase64({
    ...libc,
    simdutfToBase64: (...args) => {
      calls++;
      return spell(...args);
    },
  });
  return () => calls;
}

describe('base64 by the host', () => {
  it.each([
    ['nothing', () => 0],
    ['too many symbols', (_from: Uint8Array, _length: number, into: Uint8Array) => into.length + 1],
    ['other symbols', (_from: Uint8Array, _length: number, into: Uint8Array) => into.fill(65).length],
  ])('is not used when it spells %s', (_name, spell) => {
    const calls = useCounted(spell);
    const bytes = randomBytes(10_000);
    expect(encode(bytes)).toBe(bytes.toString('base64'));
    expect(calls()).toBe(1);
  });

  it('is not used where there is none', () => {
    useHostBase64({ ...libc, simdutfToBase64: null });
    const bytes = randomBytes(10_000);
    expect(encode(bytes)).toBe(bytes.toString('base64'));
  });

  it.skipIf(libc.simdutfToBase64 === null)('spells what Node spells', () => {
    const calls = useCounted(libc.simdutfToBase64!);
    const lengths = [1024, 1025, 1026, 1027, 65_535, 65_536, 65_537, 1_048_576];
    for (const length of lengths) {
      const memory = randomBytes(length + 1);
      expect(encode(memory.subarray(1))).toBe(memory.toString('base64', 1));
    }
    expect(calls()).toBe(1 + lengths.length);
  });

  it.runIf(Number(process.versions.node.split('.')[0]) <= 22)('is there', () => {
    expect(libc.simdutfToBase64).not.toBeNull();
  });
});
