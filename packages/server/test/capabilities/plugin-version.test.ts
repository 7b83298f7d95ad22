import { expect, it } from 'vitest';
import { compareVersions } from '../../src/capabilities/plugin-version.js';

it('orders versions by their numbers, and others as text', () => {
  const ordered = [
    '1.0.0-alpha',
    '1.0.0-alpha.1',
    '1.0.0-alpha.beta',
    '1.0.0-beta.2',
    '1.0.0-beta.11',
    '1.0.0',
    '1.0.0+build',
    '2.0.0',
    '10.0.0',
    '10.0.123456789012345678901234567890',
  ];
  expect(ordered.toReversed().sort(compareVersions)).toEqual(ordered);
  expect(['b', 'a', 'c'].sort(compareVersions)).toEqual(['a', 'b', 'c']);
  expect(compareVersions('10.0.0', 'abc')).toBeLessThan(0);
  expect(compareVersions('1.0', '1.0')).toBe(0);
});
