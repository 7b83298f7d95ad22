import { takesTooLong } from '@exec-server/testing';

/*
 * Expressions of JavaScript try one way after the other. One that can divide the same text in many ways takes time in
 * proportion to the square of the text, or worse, and whoever writes the text holds up everything else. These are the
 * texts that show it.
 */

/** Lengths in characters: the short ones catch what a long text would not end for. */
const LENGTHS = [24, 400, 10_000];

/** A text that an expression takes too long for; nothing when it takes all of them in proportion to their length. */
export function findSlowText(expression: RegExp, more: readonly Attack[] = []) {
  const attacks = [...listAttacks(expression), ...more];
  for (const length of LENGTHS)
    for (const attack of attacks) {
      const text = attack(length);
      if (takesTooLong((searched) => apply(expression, searched), text))
        return { length, begins: text.slice(0, 40), ends: text.slice(-10) };
    }
  return undefined;
}

type Attack = (length: number) => string;

/** What an expression cannot expect everywhere, and none at all. */
const SUFFIXES = ['', '\u0001', '"a'];

/** Repeats what the expression itself is made of, by itself and behind what may have to stand before it. */
function listAttacks({ source }: RegExp): Attack[] {
  const words = listWords(source);
  const characters = [...new Set(['a', '0', ' ', '\n', ...words.flatMap((word) => Array.from(word))])];
  const prefixes = ['', ...words.slice(0, 4), words.join('')];
  return [
    ...characters.flatMap((character) => prefixes.map((prefix) => ({ prefix, pump: character }))),
    ...words.flatMap((word) => [word, `${word} `, `${word}a`]).map((pump) => ({ prefix: '', pump })),
  ].flatMap(({ prefix, pump }) => SUFFIXES.map((suffix) => makePump(prefix, pump, suffix)));
}

function makePump(prefix: string, pump: string, suffix: string): Attack {
  return (length) => prefix + pump.repeat(Math.ceil(length / pump.length)) + suffix;
}

/** A part of an expression: one that stands for itself, behind a backslash or not, or one that has a meaning. */
const PART =
  /\\(?:u\{[0-9a-f]+\}|u[0-9a-f]{4}|x[0-9a-f]{2}|p\{\w+\}|[bBdDsSwWnrt0])|\\(.)|\(\?[:=!]|\{\d+,?\d*\}|([^()|*+?^$[\]])|./gisu;

/** What an expression has of plain text, in one piece each. */
function listWords(source: string): string[] {
  const plain = Array.from(source.matchAll(PART), ([, escaped, literal]) => escaped ?? literal ?? '\0').join(
    '',
  );
  return [...new Set(plain.split('\0').filter((word) => word !== ''))];
}

/** Applied as often as it matches, which is at least what the code does with it. */
function apply(expression: RegExp, text: string): void {
  const everywhere = expression.flags.includes('g')
    ? expression
    : new RegExp(expression, `${expression.flags}g`);
  text.replace(everywhere, '');
}
