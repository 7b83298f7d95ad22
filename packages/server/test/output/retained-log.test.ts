import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RetainedLog } from '../../src/output/retained-log.js';

const log = (bytes = 100, chunks = 100) => new RetainedLog({ bytes, chunks });
const bytesOf = (size: number) => Buffer.alloc(size, 'x');
const seqs = (chunks: readonly { seq: number }[]) => chunks.map(({ seq }) => seq);

describe('numbers', () => {
  it('start at 1 and are shared by output and other events', () => {
    const retained = log();
    expect(retained.append('stdout', bytesOf(1)).seq).toBe(1);
    expect(retained.takeSeq()).toBe(2);
    expect(retained.append('stderr', bytesOf(1)).seq).toBe(3);
    expect(retained.nextSeq).toBe(4);
  });
});

describe('byte limit', () => {
  it.each([
    [99, [1, 2]],
    [100, [1, 2]],
    [101, [2]],
  ])('keeps the newest 100 bytes (%i written)', (total, kept) => {
    const retained = log();
    retained.append('stdout', bytesOf(50));
    retained.append('stdout', bytesOf(total - 50));
    expect(seqs(retained.chunksAfter(0))).toEqual(kept);
  });

  it('drops a chunk that is larger than everything it may keep', () => {
    const retained = log();
    retained.append('stdout', bytesOf(101));
    expect(retained.retainedBytes).toBe(0);
    expect(retained.chunksAfter(0)).toEqual([]);
    expect(retained.nextSeq).toBe(2);
  });
});

describe('with somebody who keeps something of what is dropped', () => {
  it('counts that into the limit, and tells of each chunk that comes and goes', () => {
    const events: string[] = [];
    const taker = {
      bytes: 0,
      retain: ({ seq }: { seq: number }) => void events.push(`+${seq}`),
      evict: ({ seq, length }: { seq: number; length: number }) => {
        events.push(`-${seq}`);
        taker.bytes = Math.min(30, taker.bytes + length);
      },
    };
    const retained = new RetainedLog({ bytes: 100, chunks: 100 }, taker);
    for (let index = 0; index < 6; index++) retained.append('stdout', bytesOf(20));
    expect(events).toEqual(['+1', '+2', '+3', '+4', '+5', '+6', '-1', '-2', '-3']);
    expect(retained.retainedBytes).toBe(60);
  });
});

describe('chunk limit', () => {
  it.each([
    [2, 1],
    [3, 1],
    [4, 2],
  ])('keeps the newest three chunks (%i written)', (count, first) => {
    const retained = log(1000, 3);
    for (let index = 0; index < count; index++) retained.append('stdout', bytesOf(1));
    expect(retained.chunksAfter(0)[0]?.seq).toBe(first);
  });
});

describe('chunksAfter', () => {
  const retained = log();
  for (const size of [3, 4, 5]) retained.append('stdout', bytesOf(size));

  it.each([
    [0, undefined, [1, 2, 3]],
    [1, undefined, [2, 3]],
    [3, undefined, []],
    [900, undefined, []],
    // At least one chunk always comes.
    [0, 0, [1]],
    [0, 1, [1]],
    // Stops before a chunk that does not fit, and after one that fills.
    [0, 6, [1]],
    [0, 7, [1, 2]],
    [0, 8, [1, 2]],
    [0, 12, [1, 2, 3]],
  ])('after %i within %s bytes', (after, maxBytes, expected) => {
    expect(seqs(retained.chunksAfter(after, maxBytes))).toEqual(expected);
  });
});

it('agrees with a plain array under random appends', () => {
  const operation = fc.record({ size: fc.integer({ min: 1, max: 40 }), gap: fc.boolean() });
  fc.assert(
    fc.property(
      fc.array(operation, { maxLength: 200 }),
      fc.integer({ min: 0, max: 300 }),
      (operations, after) => {
        const retained = log(100, 7);
        let model: { seq: number; size: number }[] = [];
        let seq = 1;
        for (const { size, gap } of operations) {
          if (gap) seq = retained.takeSeq() + 1;
          retained.append('stdout', bytesOf(size));
          model.push({ seq: seq++, size });
          while (model.length > 7 || model.reduce((sum, chunk) => sum + chunk.size, 0) > 100)
            model = model.slice(1);
        }
        expect(seqs(retained.chunksAfter(after))).toEqual(seqs(model.filter((chunk) => chunk.seq > after)));
        expect(retained.retainedBytes).toBe(model.reduce((sum, chunk) => sum + chunk.size, 0));
        expect(retained.hasChunkAfter(after)).toBe(model.some((chunk) => chunk.seq > after));
      },
    ),
  );
});
