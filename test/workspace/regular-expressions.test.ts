import { parseSync } from 'vite';
import { describe, expect, it, test } from 'vitest';
import { findSlowText } from './linear-time.js';
import { BOUNDED, REGULAR_EXPRESSIONS } from './regular-expressions.js';
import { listSourceFiles } from './source-files.js';

/** What a file has of regular expressions: those that are written out, and how many it makes from text. */
interface Found {
  readonly written: readonly string[];
  readonly built: number;
}

interface SyntaxNode {
  readonly type?: string;
  readonly regex?: { readonly pattern: string; readonly flags: string };
  readonly callee?: { readonly name?: string };
}

function findExpressions(path: string, text: string): Found {
  const written = new Set<string>();
  let built = 0;
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    const { type, regex, callee } = value as SyntaxNode;
    if (type === 'Literal' && regex !== undefined) written.add(`/${regex.pattern}/${regex.flags}`);
    if ((type === 'NewExpression' || type === 'CallExpression') && callee?.name === 'RegExp') built++;
    for (const part of Object.values(value)) visit(part);
  };
  visit(parseSync(path, text).program.body);
  return { written: [...written].sort(), built };
}

const found = Object.fromEntries(
  listSourceFiles()
    .map(({ path, text }) => [path.slice('packages/'.length), findExpressions(path, text)] as const)
    .filter(([, { written, built }]) => written.length + built > 0),
);

test('every regular expression is reviewed: regular-expressions.ts lists it, and none that is gone', () => {
  const reviewed = Object.entries(REGULAR_EXPRESSIONS).map(([file, { expressions, built = 0 }]) => {
    const written = expressions.slice(0, expressions.length - built).map(String);
    return [file, { written: written.sort(), built }] as const;
  });
  expect(found).toEqual(Object.fromEntries(reviewed));
});

/** Each pass through a group takes memory of its own, and the longest messages have more of them than there is. */
const REPEATED_GROUP = /\)(?:[*+]|\{\d+,\})/;
const CHARACTER_CLASS = /\[(?:\\.|[^\]\\])*\]/g;

describe.each(Object.entries(REGULAR_EXPRESSIONS))('%s', (_, { reads, expressions, worst }) => {
  it.each(expressions)('takes time and memory in proportion to what it reads: %s', (expression) => {
    expect(findSlowText(expression, worst)).toBeUndefined();
    if (!BOUNDED.has(reads))
      expect(expression.source.replaceAll(CHARACTER_CLASS, '')).not.toMatch(REPEATED_GROUP);
  });
});

describe('the measure', () => {
  it.each([
    /\/+$/,
    /(\S+): *$/,
    /‘([^’]+)’/g,
    /\(Did you mean (.*)\?\)/,
    /\bsocket\b.*\bEPERM\b/i,
    /^(a+)+$/,
  ])('finds that this one takes too long: %s', (expression) => {
    expect(findSlowText(expression)).toBeDefined();
  });

  it('uses the worst text that a reviewer knows', () => {
    const frontMatter = /^(\s*[^\s:#][^:]*:\s+)([^\s'"|>].*?)(\s+#.*|\s*)$/;
    expect(findSlowText(frontMatter, [(length) => `a: b${' '.repeat(length)}c`])).toBeDefined();
  });
});
