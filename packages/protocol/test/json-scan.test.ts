import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JsonSyntaxError, MAX_JSON_DEPTH, MAX_JSON_VALUES, scanJson } from '../src/index.js';

function problemOf(text: string): string | undefined {
  try {
    scanJson(text);
    return undefined;
  } catch (error) {
    expect(error).toBeInstanceOf(JsonSyntaxError);
    return (error as Error).message;
  }
}

function accepts(parse: () => unknown): boolean {
  try {
    parse();
    return true;
  } catch {
    return false;
  }
}

describe('what is wrong and where', () => {
  it.each([
    ['', 'EOF while parsing a value at line 1 column 0'],
    ['not', 'expected ident at line 1 column 2'],
    ['nul', 'EOF while parsing a value at line 1 column 3'],
    ['truE', 'expected ident at line 1 column 4'],
    ['x', 'expected value at line 1 column 1'],
    ['+1', 'expected value at line 1 column 1'],
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
    ['[,]', 'expected value at line 1 column 2'],
    ['01', 'invalid number at line 1 column 2'],
    ['-01', 'invalid number at line 1 column 3'],
    ['-', 'EOF while parsing a value at line 1 column 1'],
    ['1.x', 'invalid number at line 1 column 3'],
    ['1e+', 'EOF while parsing a value at line 1 column 3'],
    ['"ab\\x"', 'invalid escape at line 1 column 5'],
    ['"ab\\u12"', 'EOF while parsing a string at line 1 column 8'],
    ['"ab\\u12G4"', 'invalid escape at line 1 column 9'],
    ['"ab\\uD800"', 'unexpected end of hex escape at line 1 column 10'],
    ['"ab\\uD800\\n"', 'unexpected end of hex escape at line 1 column 11'],
    ['"ab\\uD800\\u0041"', 'lone leading surrogate in hex escape at line 1 column 15'],
    ['"\\uDC00"', 'lone leading surrogate in hex escape at line 1 column 7'],
    ['"ab\tc"', 'control character (\\u0000-\\u001F) found while parsing a string at line 1 column 4'],
    ['{} x', 'trailing characters at line 1 column 4'],
    ['[1]]', 'trailing characters at line 1 column 4'],
    ['\ufeff{}', 'expected value at line 1 column 3'],
    ['{"id":1,"method":"nope","id":2}', 'duplicate JSON object key `id` at line 1 column 28'],
    ['{"é":1,"é":2}', 'duplicate JSON object key `é` at line 1 column 12'],
    ['{"a\\u0062":1,"ab":2}', 'duplicate JSON object key `ab` at line 1 column 17'],
    ['[{"a":{"b":1,"b":2}}]', 'duplicate JSON object key `b` at line 1 column 16'],
    ['{\n  "a": tru,\n}', 'expected ident at line 2 column 11'],
  ])('%j', (text, problem) => {
    expect(problemOf(text)).toBe(problem);
  });

  it('accepts paired surrogates, equal keys in different objects and every kind of white space', () => {
    expect(problemOf('"\\ud83d\\ude00"')).toBeUndefined();
    expect(problemOf('[{"a":1},{"a":{"a":1}}]')).toBeUndefined();
    expect(problemOf(' \t\r\n{ "a" : [ ] , "b" : { } } \n')).toBeUndefined();
  });

  it('finds a duplicate among many keys', () => {
    const members = Array.from({ length: 40 }, (_, index) => `"k${index}":0`);
    expect(problemOf(`{${members.join()}}`)).toBeUndefined();
    expect(problemOf(`{${[...members, '"k3":1'].join()}}`)).toContain('duplicate JSON object key `k3`');
  });

  it('looks into long strings unless told to leave them', () => {
    const long = 'x'.repeat(500);
    expect(problemOf(`"${long}\u0001"`)).toContain('control character');
    expect(problemOf(`"${long}\\q"`)).toContain('invalid escape');
    expect(problemOf(`["${long}\\"${long}","${long}\\\\"]`)).toBeUndefined();
    expect(problemOf(`"${long}`)).toContain('EOF while parsing a string');
    expect(() => scanJson(`"${long}\u0001"`, { longStrings: 'skip' })).not.toThrow();
    expect(() => scanJson(`"${long}\\uD800"`, { longStrings: 'skip' })).toThrow(
      'unexpected end of hex escape',
    );
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

  it('refuses hostile nesting without reading on', () => {
    expect(problemOf('['.repeat(10_000_000))).toContain('recursion limit exceeded');
    expect(problemOf('{"a":'.repeat(MAX_JSON_DEPTH + 1))).toContain('recursion limit exceeded');
  });

  it.each([
    [MAX_JSON_VALUES - 1, false],
    [MAX_JSON_VALUES, false],
    [MAX_JSON_VALUES + 1, true],
  ])('%i values', (count, refused) => {
    const problem = problemOf(`[${Array.from({ length: count - 1 }, () => '1').join()}]`);
    expect(problem !== undefined).toBe(refused);
    if (refused)
      expect(problem).toContain('JSON-RPC message exceeds the limit of 262144 JSON values at line 1');
  });

  it('does not count keys', () => {
    const members = Array.from({ length: MAX_JSON_VALUES - 1 }, (_, index) => `"${index}":0`);
    expect(problemOf(`{${members.join()}}`)).toBeUndefined();
  });
});

describe('the top-level id', () => {
  it.each([
    ['{"id":9223372036854775807}', '9223372036854775807'],
    ['{ "id" : -5 , "a":1}', '-5'],
    ['{"a":{"id":1},"id":"x y"}', '"x y"'],
    ['{"\\u0069d":7}', '7'],
    ['{"id":[1,{"id":2}]}', '[1,{"id":2}]'],
    ['{"a":{"id":1}}', undefined],
    ['[{"id":1}]', undefined],
  ])('%s', (text, idText) => {
    expect(scanJson(text).idText).toBe(idText);
  });
});

describe('against JSON.parse', () => {
  it('accepts what JSON.stringify makes', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(0, 2), (value, indent) => {
        scanJson(JSON.stringify(value, null, indent));
      }),
    );
  });

  it('accepts exactly what JSON.parse accepts', () => {
    const tokens = [
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"a"',
      '"b\\n"',
      '"\\u00e9"',
      'true',
      'false',
      'null',
      'nul',
    ];
    const numbers = ['1', '-0', '1.5', '1e3', '01', '.', 'e', '-'];
    const damage = [' ', '\n', '\t', '"', '\\', '\u0001', '"\\x"', '"\\u12"', 'é', '\u00a0'];
    const pieces = fc.constantFrom(...tokens, ...numbers, ...damage);
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 12 }), (parts) => {
        const text = parts.join('');
        const problem = problemOf(text);
        // Duplicate keys are the one rule of ours that these pieces can break.
        if (problem?.startsWith('duplicate')) return;
        expect(problem === undefined).toBe(accepts(() => JSON.parse(text)));
      }),
      { numRuns: 20_000 },
    );
  });

  it('accepts exactly what JSON.parse accepts of damaged documents', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(), fc.string({ maxLength: 2 }), (value, at, damage) => {
        const text = JSON.stringify(value);
        const position = at % (text.length + 1);
        const damaged = text.slice(0, position) + damage + text.slice(position + 1);
        const problem = problemOf(damaged);
        if (problem?.startsWith('duplicate') || problem?.includes('hex escape')) return;
        expect(problem === undefined).toBe(accepts(() => JSON.parse(damaged)));
      }),
      { numRuns: 5_000 },
    );
  });
});
