import { describe, expect, it } from 'vitest';
import { collectPairs, parseDuration } from '../../src/commands/flag-values.js';

describe('durations', () => {
  it.each([
    ['500ms', 500],
    ['30s', 30_000],
    ['1.5', 1500],
    ['5m', 300_000],
    ['2h', 7_200_000],
    ['1d', 86_400_000],
    ['0', 0],
  ])('%s', (text, durationMs) => expect(parseDuration('--timeout')(text)).toBe(durationMs));

  it.each(['', 's', '-1', '1w', '1 s', '1e3'])('%j is none', (text) => {
    expect(() => parseDuration('--timeout')(text)).toThrow(`invalid value '${text}' for '--timeout'`);
  });
});

it('pairs are collected, and the value may contain anything', () => {
  const collect = collectPairs('--tag');
  expect(collect('b==c', collect('a='))).toEqual({ a: '', b: '=c' });
  for (const text of ['a', '=b', '']) expect(() => collect(text)).toThrow('expected KEY=VALUE');
});
