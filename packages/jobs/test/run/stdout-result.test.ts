import { describe, expect, it } from 'vitest';
import { MAX_RESULT_BYTES } from '../../src/results/schema.js';
import { StdoutResult } from '../../src/run/stdout-result.js';

const textOf = (...pieces: readonly string[]) => {
  const stdout = new StdoutResult();
  for (const piece of pieces) stdout.take(Buffer.from(piece));
  return stdout.text;
};

describe('StdoutResult', () => {
  it.each([
    [['{"a":', '1}\n'], '{"a":1}\n'],
    [[' \n', '\t{}'], '\t{}'],
    [['text {}'], undefined],
    [['[1]'], undefined],
    [[' \n'], undefined],
    [[], undefined],
  ])('%j', (pieces, text) => {
    expect(textOf(...pieces)).toBe(text);
  });

  it.each([
    [-1, true],
    [0, true],
    [1, false],
  ])('with %i bytes more than the limit is kept: %s', (more, isKept) => {
    expect(textOf('{', 'x'.repeat(MAX_RESULT_BYTES - 1 + more)) !== undefined).toBe(isKept);
  });

  it('is none once something is missing', () => {
    const stdout = new StdoutResult();
    stdout.take(Buffer.from('{'));
    stdout.giveUp();
    stdout.take(Buffer.from('}'));
    expect(stdout.text).toBeUndefined();
  });
});
