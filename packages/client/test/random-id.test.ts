import { expect, it } from 'vitest';
import { createRandomId } from '../src/random-id.js';

it('is 32 digits that differ every time, and fits where ids have a limit', () => {
  const ids = Array.from({ length: 100 }, createRandomId);
  expect(new Set(ids).size).toBe(100);
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{32}$/);
});
