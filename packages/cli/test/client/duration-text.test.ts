import { expect, it } from 'vitest';
import { toDurationText } from '../../src/client/duration-text.js';

it.each([
  [-1, '0s'],
  [59_999, '59s'],
  [60_000, '1m'],
  [3_599_999, '59m'],
  [3_600_000, '1h'],
  [86_399_999, '23h'],
  [86_400_000, '1d'],
])('%i ms are %s', (durationMs, text) => expect(toDurationText(durationMs)).toBe(text));
