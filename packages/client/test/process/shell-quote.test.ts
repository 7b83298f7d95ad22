import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { quoteWord, type ShellValue, toScript } from '../../src/process/shell-quote.js';

const script = (strings: TemplateStringsArray, ...values: readonly ShellValue[]) => toScript(strings, values);

/** The words that a real shell makes of a script's arguments. */
function wordsOf(words: string): string[] {
  const printed = execFileSync('/bin/sh', ['-c', `printf '%s\\0' ${words}`], { encoding: 'utf8' });
  return printed.split('\0').slice(0, -1);
}

describe('a word', () => {
  it.each([
    'plain',
    '',
    ' ',
    "it's",
    '"$HOME" `id` $(id) \\ ; & | < > * ? [a] {a,b} ~ # !x',
    'line\nbreak\ttab',
    '-n',
    'ünïcödé €',
    "'",
    "''",
    "\\'",
  ])('%j comes out of a shell as it went in', (word) => {
    expect(wordsOf(quoteWord(word))).toEqual([word]);
  });

  it('that needs no quotes gets none', () => {
    expect(quoteWord('src/main.ts')).toBe('src/main.ts');
  });

  it('with a NUL is refused', () => {
    expect(() => quoteWord('a\0b')).toThrow(expect.objectContaining({ code: 'usage' }));
  });
});

describe('a template', () => {
  it('has its values as words and lists as several', () => {
    expect(script`ls ${'a b'} ${['c d', 'e']} --n=${3} ${true}`).toBe("ls 'a b' 'c d' e --n=3 true");
    expect(script`ls ${[]}`).toBe('ls ');
  });

  it("leaves backslashes to the shell, but for a template's own", () => {
    const expected = ["sed 's/\\./\\n/'", '`date`', `$${'{HOME}'}`, '$HOME'].join(' ');
    expect(script`sed 's/\./\n/' \`date\` \${HOME} $HOME`).toBe(expected);
  });

  it.each([[undefined], [null], [{}], [[undefined]], [() => 'x']])('refuses %j', (value) => {
    expect(() => script`rm -r ${value as unknown as string}`).toThrow(
      expect.objectContaining({ code: 'usage' }),
    );
  });
});
