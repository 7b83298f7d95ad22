import { expect, test } from 'vitest';
import * as z from 'zod/mini';
import { deferSchema } from '../src/deferred-schema.js';
import { struct } from '../src/struct.js';

function countedText() {
  let builds = 0;
  const schema = deferSchema(
    () => {
      builds += 1;
      return z.string();
    },
    { description: 'A word.' },
  );
  return { schema, builds: () => builds };
}

test('is built by the first look at it, and once', () => {
  const { schema, builds } = countedText();
  expect(builds()).toBe(0);
  expect(z.parse(schema, 'a')).toBe('a');
  expect(schema.parse('b')).toBe('b');
  expect(z.safeParse(schema, 1).success).toBe(false);
  expect(builds()).toBe(1);
});

test('is not built by a struct that it is a member of until that is used', () => {
  const { schema, builds } = countedText();
  const Pair = struct('Pair', { word: schema });
  expect(builds()).toBe(0);
  expect(z.parse(Pair, { word: 'a' })).toEqual({ word: 'a' });
  expect(builds()).toBe(1);
});

test('is a schema like any other to zod', () => {
  const { schema } = countedText();
  expect(schema).toBeInstanceOf(z.ZodMiniString);
  expect(z.toJSONSchema(z.object({ word: schema }))).toMatchObject({
    properties: { word: { type: 'string', description: 'A word.' } },
  });
  expect(z.parse(z.optional(countedText().schema), undefined)).toBeUndefined();
});

test('that cannot be built says why at each look', () => {
  const broken = deferSchema((): z.ZodMiniString => {
    throw new RangeError('no such schema');
  });
  for (let look = 0; look < 2; look++) {
    expect(() => z.parse(broken, 'a')).toThrow(new RangeError('no such schema'));
  }
});
