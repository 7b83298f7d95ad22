import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { quoteWord, splitCommandLines } from '../../src/shell-snapshot/shell-words.js';

it('quotes any text as one word', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...Array.from('a\'"\\$`\n !*~')) }), (text) => {
      const script = `printf %s ${quoteWord(text)}`;
      expect(execFileSync('/bin/sh', ['-c', script]).toString()).toBe(text);
    }),
    { numRuns: 30 },
  );
});

it('splits at line breaks that are not quoted', () => {
  const text = "a='1'\nb='two\nlines'\nc='it'\"'\n'\"'s'\nd=\\\nx\n\n";
  expect(splitCommandLines(text)).toEqual(["a='1'", "b='two\nlines'", "c='it'\"'\n'\"'s'", 'd=\\\nx']);
});
