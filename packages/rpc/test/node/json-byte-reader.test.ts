import { JsonSyntaxError, MAX_JSON_DEPTH, MAX_JSON_VALUES } from '@exec-server/protocol';
import { describe, expect, it } from 'vitest';
import { JsonByteReader, type ShapeLimits } from '../../src/node/json-byte-reader.js';

const ROOMY: ShapeLimits = { longStringBytes: 1_000_000, objectMembers: 1_000_000, listElements: 1_000_000 };

/** Reads as little as possible at a time. */
function read(text: string, limits: Partial<ShapeLimits> = {}) {
  const reader = new JsonByteReader(Buffer.from(text), { ...ROOMY, ...limits });
  let turns = 1;
  while (!reader.read(() => false)) turns++;
  return { reader, turns };
}

function problemOf(text: string): string | undefined {
  try {
    read(text);
    return undefined;
  } catch (error) {
    expect(error).toBeInstanceOf(JsonSyntaxError);
    return (error as Error).message;
  }
}

describe('what is wrong and where', () => {
  it.each([
    ['', 'EOF while parsing a value at line 1 column 0'],
    ['not', 'expected ident at line 1 column 2'],
    ['nul', 'EOF while parsing a value at line 1 column 3'],
    ['truE', 'expected ident at line 1 column 4'],
    ['x', 'expected value at line 1 column 1'],
    ['{', 'EOF while parsing an object at line 1 column 1'],
    ['[', 'EOF while parsing a list at line 1 column 1'],
    ['{"a', 'EOF while parsing a string at line 1 column 3'],
    ['{"a"', 'EOF while parsing an object at line 1 column 4'],
    ['{"a":', 'EOF while parsing a value at line 1 column 5'],
    ['{"a":1', 'EOF while parsing an object at line 1 column 6'],
    ['{"a":1,', 'EOF while parsing a value at line 1 column 7'],
    ['{"a":1,}', 'trailing comma at line 1 column 8'],
    ['{"a" 1}', 'expected `:` at line 1 column 6'],
    ['{a:1}', 'key must be a string at line 1 column 2'],
    ['[1,]', 'trailing comma at line 1 column 4'],
    ['[1 2]', 'expected `,` or `]` at line 1 column 4'],
    ['{"a":1 "b":2}', 'expected `,` or `}` at line 1 column 8'],
    ['01', 'invalid number at line 1 column 2'],
    ['-', 'EOF while parsing a value at line 1 column 1'],
    ['1.x', 'invalid number at line 1 column 3'],
    ['1e+', 'EOF while parsing a value at line 1 column 3'],
    ['"ab\\x"', 'invalid escape at line 1 column 5'],
    ['"ab\\u12G4"', 'invalid escape at line 1 column 9'],
    ['"ab\\uD800\\n"', 'unexpected end of hex escape at line 1 column 11'],
    ['"ab\\uD800\\u0041"', 'lone leading surrogate in hex escape at line 1 column 15'],
    ['"\\uDC00"', 'lone leading surrogate in hex escape at line 1 column 7'],
    ['"ab\tc"', 'control character (\\u0000-\\u001F) found while parsing a string at line 1 column 4'],
    ['[1]]', 'trailing characters at line 1 column 4'],
    ['\ufeff{}', 'expected value at line 1 column 3'],
    ['{"é":1,"é":2}', 'duplicate JSON object key `é` at line 1 column 12'],
    ['{"a\\u0062":1,"ab":2}', 'duplicate JSON object key `ab` at line 1 column 17'],
    ['{\n  "a": tru,\n}', 'expected ident at line 2 column 11'],
  ])('%j', (text, problem) => {
    expect(problemOf(text)).toBe(problem);
  });

  it('finds what is wrong in a long string', () => {
    const long = 'x'.repeat(500);
    expect(problemOf(`"${long}\u0001"`)).toBe(
      'control character (\\u0000-\\u001F) found while parsing a string at line 1 column 502',
    );
    expect(problemOf(`"é${long}\u0001${long}\\n"`)).toContain('control character');
    expect(problemOf(`"${long}\\q"`)).toContain('invalid escape');
    expect(problemOf(`"${long}`)).toContain('EOF while parsing a string');
  });
});

describe('limits', () => {
  it.each([
    [MAX_JSON_DEPTH - 1, undefined],
    [MAX_JSON_DEPTH, undefined],
    [MAX_JSON_DEPTH + 1, `recursion limit exceeded at line 1 column ${MAX_JSON_DEPTH + 1}`],
  ])('depth %i', (depth, problem) => {
    expect(problemOf('['.repeat(depth) + ']'.repeat(depth))).toBe(problem);
  });

  it.each([
    [MAX_JSON_VALUES - 1, false],
    [MAX_JSON_VALUES, false],
    [MAX_JSON_VALUES + 1, true],
  ])('%i values', (count, refused) => {
    const problem = problemOf(`[${Array.from({ length: count - 1 }, () => '1').join()}]`);
    expect(problem?.includes('exceeds the limit of 262144 JSON values') ?? false).toBe(refused);
  });

  it.each([
    [65_535, false],
    [65_536, false],
    [65_537, true],
  ])('a number of %i digits is out of range: %s', (digits, refused) => {
    expect(problemOf(`1${'0'.repeat(digits - 1)}`)?.startsWith('number out of range') ?? false).toBe(refused);
  });

  it.each([
    [2, undefined, { a: { m0: 1, m1: 1 } }],
    [3, undefined, { a: { m0: 1, m1: 1, m2: 1 } }],
    [4, 'a has more than 3 members', { a: { m0: 1, m1: 1, m2: 1 } }],
  ])('an object of %i members, of 3 that are allowed', (count, excess, value) => {
    const members = Array.from({ length: count }, (_, index) => `"m${index}":1`);
    const { reader } = read(`{"a":{${members.join()}}}`, { objectMembers: 3 });
    expect(reader.excess).toBe(excess);
    expect(reader.value).toEqual(value);
  });

  it.each([
    [2, undefined],
    [3, undefined],
    [4, 'a[0].b has more than 3 elements'],
  ])('a list of %i elements, of 3 that are allowed', (count, excess) => {
    const { reader } = read(`{"a":[{"b":[${'[{}],'.repeat(count - 1)}0]}]}`, { listElements: 3 });
    expect(reader.excess).toBe(excess);
  });

  it.each([
    [9, undefined],
    [10, 'params has a member whose name is longer than 10 bytes'],
  ])('a name of %i bytes, where strings of 10 are long', (bytes, excess) => {
    const { reader } = read(`{"params":{"${'n'.repeat(bytes)}":1}}`, { longStringBytes: 10 });
    expect(reader.excess).toBe(excess);
  });
});

describe('long strings', () => {
  it.each([
    [9, 0],
    [10, 1],
    [11, 1],
  ])('of %i bytes, where 10 are long, are left to the caller: %i', (bytes, count) => {
    const { reader } = read(`{"a":["short","${'x'.repeat(bytes)}"]}`, { longStringBytes: 10 });
    expect(reader.longStrings).toHaveLength(count);
  });

  it('are named and can be decoded', () => {
    const { reader } = read('{"a":[0,{"b":"long\\nlong \u20ac"}],"__proto__":"0123456789"}', {
      longStringBytes: 10,
    });
    const { value } = reader;
    expect(value).toEqual(JSON.parse('{"a":[0,{"b":""}],"__proto__":""}'));
    expect(reader.longStrings.map((string) => [string.place, reader.decode(string)])).toEqual([
      ['a[1].b', 'long\nlong \u20ac'],
      ['__proto__', '0123456789'],
    ]);
  });
});

describe('pieces', () => {
  it.each([
    ['spaces', `${' '.repeat(300_000)}{}`],
    ['a string', JSON.stringify('x'.repeat(5_000_000))],
    ['escapes', JSON.stringify('\n'.repeat(200_000))],
    ['values', JSON.stringify(Array.from({ length: 5_000 }, (_, index) => index / 7))],
    ['members', JSON.stringify(Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`k${i}`, null])))],
  ])('of %s are as many as the text is long', (_what, text) => {
    const { reader, turns } = read(text, { longStringBytes: 10_000_000 });
    expect(reader.value).toEqual(JSON.parse(text));
    expect(turns).toBeGreaterThan(3);
  });
});
