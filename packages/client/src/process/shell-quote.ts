import { usageError } from '../usage.js';

/** What may stand in a template: one word, or one for each element. */
export type ShellValue = string | number | bigint | boolean | readonly (string | number | bigint | boolean)[];

/** Words that no shell reads anything into. */
const PLAIN_WORD = /^[A-Za-z0-9_@%+=:,./-]+$/;

/** One word for a POSIX shell, whatever it contains. */
export function quoteWord(word: string): string {
  if (word.includes('\0')) throw usageError('a word for a shell cannot contain a NUL character');
  if (PLAIN_WORD.test(word)) return word;
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

/**
 * The script of a template: its text as it is written, its values as words. In the text `` \` `` and `\${` stand for what
 * a template cannot contain otherwise; every other backslash is the shell's.
 */
export function toScript(strings: TemplateStringsArray, values: readonly ShellValue[]): string {
  const parts = strings.raw.map((text) => text.replace(/\\(`|\$(?=\{))/g, '$1'));
  return parts.reduce(
    (script, text, index) => `${script}${quoteValue(values[index - 1] as ShellValue)}${text}`,
  );
}

function quoteValue(value: ShellValue): string {
  return typeof value === 'object' && value !== null && Array.isArray(value)
    ? value.map(quoteScalar).join(' ')
    : quoteScalar(value);
}

function quoteScalar(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return quoteWord(value);
    case 'number':
    case 'bigint':
    case 'boolean':
      return quoteWord(String(value));
    default:
      // `undefined` as a word deletes the wrong file sooner or later.
      throw usageError(
        `a value of a shell template must be text, a number or a list of them, not ${typeof value}`,
      );
  }
}
