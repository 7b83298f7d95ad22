import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { GATHERED_BYTES, StreamedBody } from '../../src/http/http-body.js';

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

describe('StreamedBody', () => {
  it.each([
    [GATHERED_BYTES - 1, 0],
    [GATHERED_BYTES, 2],
    [GATHERED_BYTES + 1, 2],
  ])(
    'of %d bytes that come in at once hands on %d pieces before the turn is over',
    async (length, atOnce) => {
      const stream = new Readable({ read() {} });
      const lengths: number[] = [];
      const reading = new StreamedBody(stream).read((bytes) => lengths.push(bytes.length));
      await nextTurn();
      stream.push(Buffer.alloc(1));
      stream.push(Buffer.alloc(length - 1));
      expect(lengths).toHaveLength(atOnce);
      await nextTurn();
      expect(lengths).toEqual([1, length - 1]);
      stream.push(null);
      await reading;
    },
  );

  it('hands on what came before it broke', async () => {
    const stream = new Readable({ read() {} });
    const pieces: string[] = [];
    const reading = new StreamedBody(stream).read((bytes) => pieces.push(bytes.toString()));
    stream.push('part');
    await nextTurn();
    stream.destroy(new Error('reset'));
    await expect(reading).rejects.toThrow('reset');
    expect(pieces).toEqual(['part']);
  });

  it('ends with what the reader throws', async () => {
    const stream = new Readable({ read() {} });
    const reading = new StreamedBody(stream).read(() => {
      throw new Error('enough');
    });
    stream.push('x');
    await expect(reading).rejects.toThrow('enough');
    expect(stream.destroyed).toBe(true);
  });
});
