import fc from 'fast-check';
import { parse } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import { formatToml } from '../../../src/environment/config/format-toml.js';
import type { TomlTable } from '../../../src/environment/config/toml-table.js';

const parseExactly = (text: string) => parse(text, { integersAsBigInt: true });
const reformat = (text: string) => formatToml(parseExactly(text));

describe('TOML text', () => {
  it('has plain members first and names tables that only hold tables by those', () => {
    const text = 'model = "m"\n[a.b]\nurl = "u"\nenv = { A = "1" }\n[a.b.c]\nk = "v"\n[empty]\n';
    expect(reformat(text)).toBe(
      'model = "m"\n\n[a.b]\nurl = "u"\n\n[a.b.env]\nA = "1"\n\n[a.b.c]\nk = "v"\n\n[empty]\n',
    );
  });

  it('keeps lists of tables apart, also empty ones', () => {
    expect(reformat('l = [{ a = 1 }, { b = { c = 2 } }]\n[[v]]\n[[v]]\n[[v.w]]\nz = 1\n')).toBe(
      '[[l]]\na = 1\n\n[[l]]\n\n[l.b]\nc = 2\n\n[[v]]\n\n[[v]]\n\n[[v.w]]\nz = 1\n',
    );
    expect(reformat('k = [[1, 2], ["x"]]\nm = [{ a = 1 }, 2]\ni = []\n')).toBe(
      'k = [[1, 2], ["x"]]\nm = [{ a = 1 }, 2]\ni = []\n',
    );
  });

  it.each([
    ['a = 9223372036854775807'],
    ['a = -1'],
    ['a = 5.0'],
    ['a = -0.0'],
    ['a = 1e21', 'a = 1000000000000000000000.0'],
    ['a = 1.5e-7', 'a = 0.00000015'],
    ['a = -2.5e22', 'a = -25000000000000000000000.0'],
    ['a = inf'],
    ['a = -inf'],
    ['a = nan'],
    ['a = true'],
    ['a = 1979-05-27T07:32:00Z'],
    ['a = 1979-05-27 07:32:00', 'a = 1979-05-27T07:32:00'],
    ['a = 1979-05-27T00:32:00.999-07:00'],
    ['a = 1979-05-20'],
    ['a = 07:32:00.5'],
    ['a = 10:20:30'],
    ["a = 'c:\\x'"],
    ['a = \'say "x"\''],
    ['a = "it\'s"'],
    ['a = "tab\\tquote\\"back\\\\\\u0001"'],
    ['a = "\\u007f"'],
    ['"quo.ted" = 1'],
    ['"a b" = 1'],
    ['"" = 1'],
    ['"line\\nbreak" = 1'],
  ])('%s', (text, formatted = text) => {
    expect(reformat(text)).toBe(`${formatted}\n`);
  });

  it('writes several lines as such', () => {
    expect(formatToml({ a: 'x\ny' })).toBe('a = """\nx\ny"""\n');
    expect(formatToml({ a: '\n""' })).toBe('a = """\n\n"\\""""\n');
    expect(formatToml({ a: '\n"""" \\ "' })).toBe('a = """\n\n"\\""\\" \\\\ \\""""\n');
  });

  it('reads back as what was written, whatever the text and the keys', () => {
    const text = fc.string({ unit: fc.constantFrom(...Array.from('ab"\'\\\n\t\u007f\u0001é😀#=[. ')) });
    const leaf = fc.oneof(
      text,
      fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
      fc.boolean(),
      fc.double(),
    );
    const { table } = fc.letrec<{ value: unknown; table: TomlTable }>((tie) => ({
      value: fc.oneof({ maxDepth: 3 }, leaf, fc.array(tie('value'), { maxLength: 3 }), tie('table')),
      table: fc.dictionary(
        text.filter((key) => key !== '__proto__'),
        tie('value'),
        { maxKeys: 4 },
      ) as fc.Arbitrary<TomlTable>,
    }));
    fc.assert(
      fc.property(table, (value) => {
        expect(parseExactly(formatToml(value))).toEqual(value);
      }),
    );
  });
});
