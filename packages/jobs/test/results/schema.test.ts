import { describe, expect, it } from 'vitest';
import { createResultCheck, parseResult } from '../../src/results/schema.js';

describe('createResultCheck', () => {
  it('without a schema takes any object', async () => {
    const check = await createResultCheck(undefined);
    expect([{}, { a: [1] }].map(check)).toEqual([undefined, undefined]);
    expect([[], 1, null, 'x'].map(check)).toEqual(Array(4).fill('result must be a JSON object'));
  });

  it.each([
    undefined,
    'http://json-schema.org/draft-07/schema#',
    'https://json-schema.org/draft/2020-12/schema',
  ])('says what does not fit a schema of %s', async ($schema) => {
    const check = await createResultCheck({
      ...($schema !== undefined && { $schema }),
      type: 'object',
      properties: { a: { type: 'string', format: 'date' } },
      additionalProperties: false,
      required: ['a'],
    });
    expect(check({ a: 'x' })).toBeUndefined();
    expect(check({})).toBe("the result does not match the schema: it must have required property 'a'");
    expect(check({ a: 'x', b: 1 })).toBe(
      'the result does not match the schema: it must NOT have additional properties (b)',
    );
  });

  it.each([[{ type: 'no such type' }], ['text'], [7]])('refuses the schema %j', async (schema) => {
    await expect(createResultCheck(schema)).rejects.toMatchObject({ code: 'usage' });
  });
});

describe('parseResult', () => {
  it('says why a text is no result', async () => {
    const check = await createResultCheck(undefined);
    expect(parseResult(' {"a": 1}\n', check)).toEqual({ result: { a: 1 } });
    expect(parseResult('[1]', check)).toEqual({ refusal: 'result must be a JSON object' });
    expect(parseResult('{"a"', check)).toMatchObject({ refusal: expect.stringContaining('is not JSON') });
  });
});
