import { describe, expect, test } from 'vitest';
import { describeClose, fitCloseReason } from '../src/close-reason.js';

describe('describeClose', () => {
  test.each([1000, 1001, 1005])('code %i is a clean end', (code) => {
    expect(describeClose(code, 'whatever')).toBeUndefined();
  });

  test('other codes are told, with the reason if there is one', () => {
    expect(describeClose(1006, '')).toBe('closed with code 1006');
    expect(describeClose(1008, 'no')).toBe('closed with code 1008: no');
  });
});

describe('fitCloseReason', () => {
  test.each([122, 123])('keeps %i bytes', (length) => {
    expect(fitCloseReason('a'.repeat(length))).toBe('a'.repeat(length));
  });

  test('cuts 124 bytes to 123', () => {
    expect(fitCloseReason('a'.repeat(124))).toBe('a'.repeat(123));
  });

  test('never cuts a character', () => {
    expect(fitCloseReason(`${'a'.repeat(122)}é`)).toBe('a'.repeat(122));
    expect(fitCloseReason(`${'a'.repeat(120)}😀`)).toBe('a'.repeat(120));
    expect(fitCloseReason(`${'a'.repeat(119)}😀`)).toBe(`${'a'.repeat(119)}😀`);
  });
});
