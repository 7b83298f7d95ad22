import { describe, expect, expectTypeOf, it } from 'vitest';
import { flag, integer, list, oneOf, tagged, text, unit } from '../src/fields.js';
import {
  decodeParams,
  decodeResult,
  defaulted,
  MalformedMessageError,
  nullable,
  RpcError,
  struct,
} from '../src/index.js';

const Inner = struct('Inner', { a: text(), b: nullable(text()) });
const Sample = struct(
  'SampleParams',
  {
    id: text(),
    inner: nullable(Inner),
    count: integer('u64'),
    on: defaulted(flag()),
    note: nullable(text(), { omittable: true }),
  },
  { extensions: { extra: nullable(flag()) } },
);

function problemOf(schema: Parameters<typeof decodeParams>[0], params: unknown): string | undefined {
  try {
    decodeParams(schema, params);
    return undefined;
  } catch (error) {
    expect(error).toBeInstanceOf(RpcError);
    expect(error).toHaveProperty('code', -32602);
    return (error as Error).message;
  }
}

describe('objects', () => {
  it('drops unknown members and takes null for absent', () => {
    const params = { id: 'x', count: 1, inner: null, note: null, unknown: 1, extra: null };
    expect(decodeParams(Sample, params)).toEqual({ id: 'x', count: 1 });
    expect(params.inner).toBeNull();
  });

  it('has the types of the members', () => {
    expectTypeOf(decodeParams(Sample, { id: 'x', count: 1 })).toEqualTypeOf<{
      id: string;
      inner?: { a: string; b?: string | undefined } | undefined;
      count: number;
      on?: boolean | undefined;
      note?: string | undefined;
      extra?: boolean | undefined;
    }>();
  });

  it.each([
    [{}, 'missing field `id`'],
    [{ id: 'x' }, 'missing field `count`'],
    [{ count: 'w' }, 'invalid type: string "w", expected u64'],
    [{ on: 5, id: 5 }, 'invalid type: number, expected a boolean'],
    [{ id: 5, on: 5 }, 'invalid type: number, expected a string'],
    [{ id: 'x', count: 1, on: null }, 'invalid type: null, expected a boolean'],
    [{ id: 'x', count: 1, inner: {} }, 'missing field `a`'],
    [{ id: 'x', count: 1, inner: { b: 1 } }, 'invalid type: number, expected a string'],
    [{ id: 'x', count: 1, inner: 'i' }, 'invalid type: string "i", expected struct Inner'],
    [{ id: 'x', count: 1, extra: 1 }, 'invalid type: number, expected a boolean'],
    [{ id: { a: 1 } }, 'invalid type: map, expected a string'],
    [{ id: [] }, 'invalid type: sequence, expected a string'],
    [{ id: true }, 'invalid type: boolean `true`, expected a string'],
    [null, 'invalid type: null, expected struct SampleParams'],
    [undefined, 'invalid type: null, expected struct SampleParams'],
    [5, 'invalid type: number, expected struct SampleParams'],
    ['s', 'invalid type: string "s", expected struct SampleParams'],
  ])('%j', (params, problem) => {
    expect(problemOf(Sample, params)).toBe(problem);
  });

  it('refuses unknown members where told to', () => {
    const Closed = struct('Closed', { a: text(), b: defaulted(text()) }, { unknownMembers: 'refuse' });
    expect(problemOf(Closed, { a: 'x' })).toBeUndefined();
    expect(problemOf(Closed, { a: 'x', c: 1 })).toBe('unknown field `c`, expected `a` or `b`');
  });
});

describe('positional arrays', () => {
  it('decode in declaration order, nested ones too', () => {
    expect(decodeParams(Sample, ['x', ['a', null], 3])).toEqual({ id: 'x', inner: { a: 'a' }, count: 3 });
    expect(decodeParams(Sample, ['x', null, 3, true, 'n'])).toEqual({
      id: 'x',
      count: 3,
      on: true,
      note: 'n',
    });
  });

  it.each([
    [[], 'invalid length 0, expected struct SampleParams with 5 elements'],
    [['x'], 'invalid length 1, expected struct SampleParams with 5 elements'],
    [['x', null], 'invalid length 2, expected struct SampleParams with 5 elements'],
    [['x', ['a']], 'invalid length 1, expected struct Inner with 2 elements'],
    [[5], 'invalid type: number, expected a string'],
    [['x', null, 1, null], 'invalid type: null, expected a boolean'],
    // An extension has a name and no place.
    [['x', null, 1, true, null, true], 'invalid length 6, expected fewer elements in array'],
  ])('%j', (params, problem) => {
    expect(problemOf(Sample, params)).toBe(problem);
  });

  it('counts one element in the singular', () => {
    expect(problemOf(struct('One', { a: text() }), [])).toBe(
      'invalid length 0, expected struct One with 1 element',
    );
  });
});

describe('integers', () => {
  const U16 = struct('S', { n: integer('u16') });
  const U64 = struct('S', { n: integer('u64') });
  const I32 = struct('S', { n: integer('i32') });
  it.each([
    [U16, 0, undefined],
    [U16, 65_534, undefined],
    [U16, 65_535, undefined],
    [U16, 65_536, 'invalid number'],
    [U16, -1, 'invalid number'],
    [U64, 2 ** 53, undefined],
    [U64, 2 ** 64, undefined],
    [U64, 2 ** 65, 'invalid number'],
    [U64, 1.5, 'invalid number'],
    [U64, Number.POSITIVE_INFINITY, 'invalid number'],
    [U64, -0, undefined],
    [I32, -(2 ** 31), undefined],
    [I32, -(2 ** 31) - 1, 'invalid number'],
    [I32, 2 ** 31, 'invalid number'],
  ])('%# %d', (schema, n, problem) => {
    expect(problemOf(schema, { n })).toBe(problem);
  });
});

describe('names', () => {
  const Three = struct('S', { v: oneOf(['a', 'b', 'c']) });
  it.each([
    [Three, 'x', 'unknown variant `x`, expected one of `a`, `b`, `c`'],
    [struct('S', { v: oneOf(['a', 'b']) }), 'x', 'unknown variant `x`, expected `a` or `b`'],
    [struct('S', { v: oneOf(['a']) }), 'x', 'unknown variant `x`, expected `a`'],
    [Three, 5, 'invalid type: number, expected string or map'],
    [Three, '__proto__', 'unknown variant `__proto__`, expected one of `a`, `b`, `c`'],
    [Three, 'constructor', 'unknown variant `constructor`, expected one of `a`, `b`, `c`'],
    [Three, 'b', undefined],
  ])('%# %j', (schema, v, problem) => {
    expect(problemOf(schema, { v })).toBe(problem);
  });
});

describe('tagged unions', () => {
  const Shape = tagged('Shape', 'type', {
    circle: { radius: integer('u64'), label: nullable(text()) },
    point: {},
    group: { members: list(text()) },
  });
  const Holder = struct('Holder', { shape: Shape });

  it('decodes by the tag', () => {
    expect(decodeParams(Holder, { shape: { type: 'circle', radius: 1, label: null, x: 1 } })).toEqual({
      shape: { type: 'circle', radius: 1 },
    });
    expect(decodeParams(Holder, { shape: ['point'] })).toEqual({ shape: { type: 'point' } });
    expect(decodeParams(Holder, { shape: ['circle', 2, 'l'] })).toEqual({
      shape: { type: 'circle', radius: 2, label: 'l' },
    });
  });

  it.each([
    [{}, 'missing field `type`'],
    [[], 'missing field `type`'],
    [{ type: 'x' }, 'unknown variant `x`, expected one of `circle`, `point`, `group`'],
    [{ type: 5 }, 'invalid type: number, expected variant identifier'],
    [{ type: 'circle' }, 'missing field `radius`'],
    [{ type: 'group', members: [1] }, 'invalid type: number, expected a string'],
    ['point', 'invalid type: string "point", expected internally tagged enum Shape'],
    [null, 'invalid type: null, expected internally tagged enum Shape'],
    [{ type: 'toString' }, 'unknown variant `toString`, expected one of `circle`, `point`, `group`'],
    [['toString'], 'unknown variant `toString`, expected one of `circle`, `point`, `group`'],
  ])('%j', (shape, problem) => {
    expect(problemOf(Holder, { shape })).toBe(problem);
  });
});

describe('unit', () => {
  it.each([null, undefined, {}])('%j is fine', (params) => {
    expect(decodeParams(unit(), params)).toBeNull();
  });

  it.each([
    [{ a: 1 }, 'invalid type: map, expected unit'],
    [[], 'invalid type: sequence, expected unit'],
    [5, 'invalid type: number, expected unit'],
    ['x', 'invalid type: string "x", expected unit'],
    [true, 'invalid type: boolean `true`, expected unit'],
  ])('%j', (params, problem) => {
    expect(problemOf(unit(), params)).toBe(problem);
  });
});

it('repeats refused strings escaped and cut', () => {
  expect(problemOf(integerHolder, { n: 'a\n"é\u0001😀\\' })).toBe(
    'invalid type: string "a\\n\\"é\\u{1}😀\\\\", expected u64',
  );
  expect(problemOf(integerHolder, { n: 'x'.repeat(1000) })).toBe(
    `invalid type: string "${'x'.repeat(256)}…", expected u64`,
  );
});
const integerHolder = struct('S', { n: integer('u64') });

it('decodes answers with an error of their own', () => {
  expect(decodeResult(Inner, { a: 'x', newer: 1 })).toEqual({ a: 'x' });
  expect(() => decodeResult(Inner, undefined)).toThrow(MalformedMessageError);
  expect(() => decodeResult(Inner, { a: 5 })).toThrow('invalid type: number, expected a string');
});
