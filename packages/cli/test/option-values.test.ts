import { describe, expect, it } from 'vitest';
import { choice, count, positiveCount, presence, text, textList, truth } from '../src/option-values.js';

describe('counts', () => {
  it.each([
    ['0', 0],
    ['7', 7],
    ['007', 7],
    ['+5', 5],
    ['9007199254740991', Number.MAX_SAFE_INTEGER],
    ['9007199254740992', Number.MAX_SAFE_INTEGER],
    ['18446744073709551615', Number.MAX_SAFE_INTEGER],
  ])('are read from %s', (value, number) => {
    expect(count.fromText(value, '--x <N>')).toBe(number);
  });

  it.each([
    ['', 'cannot parse integer from empty string'],
    ['-1', 'invalid digit found in string'],
    ['+', 'invalid digit found in string'],
    ['1.5', 'invalid digit found in string'],
    ['1e3', 'invalid digit found in string'],
    [' 1', 'invalid digit found in string'],
    ['18446744073709551616', 'number too large to fit in target type'],
  ])('are not read from %j', (value, why) => {
    expect(() => count.fromText(value, '--x <N>')).toThrow(`invalid value '${value}' for '--x <N>': ${why}`);
  });

  it('are at least one where zero means nothing', () => {
    expect(positiveCount.fromText('1', '--x <N>')).toBe(1);
    expect(() => positiveCount.fromText('0', '--x <N>')).toThrow('number would be zero for non-zero type');
  });
});

describe('values of a configuration file', () => {
  it.each([
    ['text', text, 'a', 'a'],
    ['text', text, 1n, undefined],
    ['a list', textList, ['a', 'b'], ['a', 'b']],
    ['a list', textList, [], []],
    ['a list', textList, 'a', undefined],
    ['a list', textList, ['a', 1n], undefined],
    ['a choice', choice(['a', 'b']), 'b', 'b'],
    ['a choice', choice(['a', 'b']), 'c', undefined],
    ['a truth', truth, false, false],
    ['a truth', truth, 'false', undefined],
    ['a presence', presence, true, true],
    ['a presence', presence, 1n, undefined],
    ['a count', count, 0n, 0],
    ['a count', count, -1n, undefined],
    ['a count', count, 1.5, undefined],
    ['a count', count, 1, undefined],
    ['a count', count, '1', undefined],
    ['a count', count, 2n ** 63n - 1n, Number.MAX_SAFE_INTEGER],
    ['a positive count', positiveCount, 0n, undefined],
    ['a positive count', positiveCount, 1n, 1],
  ])('%s: %o', (_name, kind, value, expected) => {
    expect(kind.fromConfig(value)).toEqual(expected);
  });
});

it('truths are spelled out on the command line', () => {
  expect([truth.fromText('true', '--x <BOOL>'), truth.fromText('false', '--x <BOOL>')]).toEqual([
    true,
    false,
  ]);
  expect(() => truth.fromText('yes', '--x <BOOL>')).toThrow(
    "invalid value 'yes' for '--x <BOOL>'\n  [possible values: true, false]",
  );
});
