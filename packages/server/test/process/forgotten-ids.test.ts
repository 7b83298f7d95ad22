import { expect, it } from 'vitest';
import { ANONYMOUS_PRINCIPAL } from '../../src/listen/principal.js';
import { ForgottenIds, MAX_FORGOTTEN_IDS } from '../../src/process/forgotten-ids.js';

it('are known to their principal alone', () => {
  const ids = new ForgottenIds();
  ids.note({ kind: 'signed-token', subject: 'a' }, 'p');
  expect(ids.has({ kind: 'signed-token', subject: 'a' }, 'p')).toBe(true);
  for (const other of [ANONYMOUS_PRINCIPAL, { kind: 'signed-token', subject: 'b' } as const])
    expect(ids.has(other, 'p')).toBe(false);
  expect(ids.has({ kind: 'signed-token', subject: 'a' }, 'q')).toBe(false);
});

it.each([
  [MAX_FORGOTTEN_IDS - 1, true],
  [MAX_FORGOTTEN_IDS, false],
  [MAX_FORGOTTEN_IDS + 1, false],
])('the first one is remembered with %i behind it: %s', (count, isKnown) => {
  const ids = new ForgottenIds();
  ids.note(ANONYMOUS_PRINCIPAL, 'first');
  for (let index = 0; index < count; index++) ids.note(ANONYMOUS_PRINCIPAL, String(index));
  expect(ids.has(ANONYMOUS_PRINCIPAL, 'first')).toBe(isKnown);
  expect(ids.has(ANONYMOUS_PRINCIPAL, String(count - 1))).toBe(true);
});
