import { expect, it } from 'vitest';
import { ERROR_REASONS, readErrorReason } from '../src/error-reasons.js';

it('names are in snake case, and each has a sentence', () => {
  for (const [name, meaning] of Object.entries(ERROR_REASONS)) {
    expect(name).toMatch(/^[a-z]+(_[a-z]+)*$/);
    expect(meaning).toMatch(/^[A-Z].*\.$/);
  }
});

it.each([
  [{ code: 'process_unknown' }, 'process_unknown'],
  [{ code: 'of_a_later_version', more: 1 }, 'of_a_later_version'],
  [{ code: 7 }, undefined],
  [{}, undefined],
  [null, undefined],
  ['process_unknown', undefined],
  [undefined, undefined],
])('the reason in %j is %j', (data, reason) => {
  expect(readErrorReason(data)).toBe(reason);
});
