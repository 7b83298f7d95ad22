import { describe, expect, test } from 'vitest';
import { compareResponse, compareValues } from './matching.js';
import { Bindings } from './placeholders.js';

const bindings = new Bindings();

describe('compareValues', () => {
  test('the same is the same', () => {
    const value = { a: [1, { b: null }], c: 'x', d: true };
    expect(compareValues(value, structuredClone(value), bindings)).toEqual([]);
  });

  test.each([
    [{ a: 1 }, { a: 2 }, 'a: expected 1, got 2'],
    [{ a: 1 }, {}, 'a: expected 1, got nothing'],
    [{}, { a: 1 }, 'a: expected nothing, got 1'],
    [{ a: null }, {}, 'a: expected null, got nothing'],
    [{ a: { b: ['x'] } }, { a: { b: ['y'] } }, 'a.b[0]: expected "x", got "y"'],
    [{ a: [1] }, { a: [1, 2] }, 'a: expected [1], got [1,2]'],
    [{ a: {} }, { a: [] }, 'a: expected {}, got []'],
    [1, '1', 'message: expected 1, got "1"'],
  ])('%j against %j', (expected, actual, difference) => {
    expect(compareValues(expected, actual, bindings)).toEqual([difference]);
  });
});

describe('compareResponse', () => {
  const failure = (code: number, message: string, id = 1) => ({ id, error: { code, message } });

  test('decode errors differ in their words, not in their code', () => {
    const expected = failure(-32602, 'missing field `path`');
    expect(compareResponse('fs/open', expected, failure(-32602, 'path is missing'), bindings)).toEqual([]);
    expect(compareResponse('fs/open', expected, failure(-32600, 'path is missing'), bindings)).toEqual([
      'error.code: expected -32602, got -32600',
    ]);
  });

  test('so do answers to what could not be parsed', () => {
    const compare = (code: number) =>
      compareResponse(
        undefined,
        failure(-32600, 'expected ident', -1),
        failure(code, 'bad JSON', -1),
        bindings,
      );
    expect(compare(-32600)).toEqual([]);
    expect(compare(-32602)).toHaveLength(1);
  });

  test('other errors are compared word for word', () => {
    const actual = failure(-32600, 'unknown process');
    expect(
      compareResponse('process/read', failure(-32600, 'unknown process id x'), actual, bindings),
    ).toEqual(['error.message: expected "unknown process id x", got "unknown process"']);
  });

  test('an error in place of a result is a difference', () => {
    const actual = failure(-32602, 'no');
    expect(compareResponse('initialize', { id: 1, result: {} }, actual, bindings)).not.toEqual([]);
    expect(compareResponse('initialize', actual, { id: 1, result: {} }, bindings)).not.toEqual([]);
  });

  test('of the environment only what is the same everywhere is compared', () => {
    const info = (changes: object) => ({
      id: 1,
      result: {
        shell: { name: 'bash', path: '/bin/bash' },
        executorVersion: '1',
        providerId: 'p',
        prependPathDirs: ['file:///bin'],
        cwd: 'file:///t',
        capabilities: { a: true },
        ...changes,
      },
    });
    const compare = (changes: object) =>
      compareResponse('environment/info', info({}), info(changes), bindings).length;
    expect(
      compare({ executorVersion: '2', providerId: 'q', prependPathDirs: [], capabilities: { a: false } }),
    ).toBe(0);
    expect(compare({ shell: { name: 'zsh', path: '/bin/zsh' } })).toBe(0);
    expect(compare({ cwd: 'file:///u' })).toBe(1);
    expect(compare({ executorVersion: 2 })).toBe(1);
    expect(compare({ shell: { name: 'zsh' } })).toBe(1);
    expect(compare({ prependPathDirs: ['/bin'] })).toBe(1);
    expect(compare({ capabilities: {} })).toBe(1);
    expect(compare({ capabilities: { a: true, b: true } })).toBe(1);
  });

  test('directory entries come in any order', () => {
    const entries = (...names: string[]) => ({
      id: 1,
      result: { entries: names.map((fileName) => ({ fileName })) },
    });
    expect(compareResponse('fs/readDirectory', entries('a', 'b'), entries('b', 'a'), bindings)).toEqual([]);
    expect(compareResponse('fs/readDirectory', entries('a', 'b'), entries('a', 'c'), bindings)).toHaveLength(
      1,
    );
  });
});
