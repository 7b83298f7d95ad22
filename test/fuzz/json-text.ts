import fc from 'fast-check';

/** Names that mean something to JavaScript or to the wire. */
const LOADED_NAMES = [
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'id',
  'method',
  'params',
  'result',
  'error',
  'jsonrpc',
  'trace',
];

/** Numbers at which something changes, as JSON text. */
const EDGE_NUMBERS = [
  '-0',
  '0.0',
  '1e999',
  '-1e-999',
  '9007199254740991',
  '9007199254740993',
  '9223372036854775807',
  '9223372036854775808',
  '-9223372036854775808',
  '18446744073709551616',
  '4294967296',
  '65536',
];

export const memberName = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...LOADED_NAMES) },
  { weight: 2, arbitrary: fc.string({ maxLength: 12 }) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 80 }) },
);

const space = fc.constantFrom('', '', '', ' ', '\n', '\t', '\r\n  ');

const escapedCharacter = (code: number) => `\\u${code.toString(16).padStart(4, '0')}`;

/** One of the ways to write a string. Long ones are read by another branch of the scanner than short ones. */
const stringText = fc
  .tuple(fc.string({ unit: 'binary', maxLength: 100 }), fc.boolean())
  .map(([text, escaped]) => {
    const json = JSON.stringify(text);
    if (!escaped) return json;
    return `"${Array.from({ length: text.length }, (_, at) => escapedCharacter(text.charCodeAt(at))).join('')}"`;
  });

const numberText = fc.oneof(
  fc.constantFrom(...EDGE_NUMBERS),
  fc.integer().map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
);

const scalarText = fc.oneof(fc.constantFrom('null', 'true', 'false'), numberText, stringText);

/** Text of one JSON value, with white space and escapes of any kind. Objects never repeat a name. */
export const jsonText: fc.Arbitrary<string> = fc.letrec<{ value: string; list: string; object: string }>(
  (tie) => ({
    value: fc.oneof({ maxDepth: 5, withCrossShrink: true }, scalarText, tie('list'), tie('object')),
    list: fc
      .array(fc.tuple(space, tie('value'), space), { maxLength: 6 })
      .map((items) => `[${items.map((item) => item.join('')).join(',')}]`),
    object: fc
      .uniqueArray(fc.tuple(memberName, space, space, tie('value'), space), {
        maxLength: 12,
        selector: ([name]) => name,
      })
      .map((members) => `{${members.map(memberText).join(',')}}`),
  }),
).value;

function memberText([name, before, after, value, end]: readonly [
  string,
  string,
  string,
  string,
  string,
]): string {
  return `${before}${JSON.stringify(name)}${after}:${value}${end}`;
}

/** Characters that JSON gives a meaning, and some that it refuses. */
const CHANGES = [
  '',
  '"',
  '\\',
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '0',
  '-',
  '.',
  'e',
  'u',
  '\u0000',
  '\n',
  '\ud800',
  'é',
];

/** JSON text with a few characters replaced, dropped or repeated: most of it no JSON any more. */
export const brokenJsonText: fc.Arbitrary<string> = fc
  .tuple(
    jsonText,
    fc.array(fc.tuple(fc.nat(), fc.nat({ max: 3 }), fc.constantFrom(...CHANGES)), {
      minLength: 1,
      maxLength: 4,
    }),
  )
  .map(([text, changes]) =>
    changes.reduce((changed, [place, length, replacement]) => {
      const at = place % (changed.length + 1);
      return changed.slice(0, at) + replacement + changed.slice(at + length);
    }, text),
  );

/** Text as somebody hostile or broken sends it. */
export const anyText: fc.Arbitrary<string> = fc.oneof(
  jsonText,
  brokenJsonText,
  fc.string({ unit: 'binary', maxLength: 200 }),
);
