import { describe, expect, it } from 'vitest';
import {
  fitCapabilities,
  MAX_CAPABILITIES,
  MAX_CAPABILITIES_BYTES,
  MAX_WARNINGS,
} from '../../../src/dialects/exec/fit-capabilities.js';

const LIMIT_WARNING = 'capability discovery size limit reached';

const pluginSkill = (description = '') => ({
  name: 'n',
  description,
  shortDescription: null,
  path: 'file:///p',
  dependencies: null,
  policy: null,
});
const skill = (description = '') => ({
  ...pluginSkill(description),
  discoveryRoot: { id: 'system-skills', path: 'file:///r' },
});
const plugin = (skills: number) => ({
  id: 'p@m',
  displayName: 'p',
  remotePluginId: null,
  version: '1',
  root: 'file:///p',
  files: { manifest: { path: 'file:///m', contents: '{}' }, mcpConfig: null, appsConfig: null },
  skills: Array.from({ length: skills }, () => pluginSkill()),
});
const many = <T>(count: number, item: T): T[] => Array.from({ length: count }, () => item);

describe('an answer', () => {
  it.each([
    [MAX_CAPABILITIES - 1, MAX_CAPABILITIES - 1, []],
    [MAX_CAPABILITIES, MAX_CAPABILITIES, []],
    [MAX_CAPABILITIES + 1, MAX_CAPABILITIES, [LIMIT_WARNING]],
  ])('of %i skills', (count, kept, warnings) => {
    const fitted = fitCapabilities({ plugins: [], skills: many(count, skill()), warnings: [] });
    expect([fitted.skills.length, fitted.warnings]).toEqual([kept, warnings]);
  });

  it('counts a plugin and each of its skills, and cuts its last skills off', () => {
    const fitted = fitCapabilities({
      plugins: [plugin(MAX_CAPABILITIES - 3), plugin(5), plugin(0)],
      skills: [skill()],
      warnings: ['w'],
    });
    expect(fitted.plugins.map(({ skills }) => skills.length)).toEqual([MAX_CAPABILITIES - 3, 1]);
    expect(fitted.skills).toEqual([]);
    expect(fitted.warnings).toEqual([LIMIT_WARNING, 'w']);
  });

  it('stays within its size, and leaves room for what is small', () => {
    const large = skill('x'.repeat(MAX_CAPABILITIES_BYTES / 4));
    const fitted = fitCapabilities({ plugins: [], skills: [...many(5, large), skill()], warnings: [] });
    expect(fitted.skills.length).toBe(4);
    expect(JSON.stringify(fitted).length).toBeLessThanOrEqual(MAX_CAPABILITIES_BYTES);
    expect(fitted.warnings).toEqual([LIMIT_WARNING]);
  });

  it.each([MAX_WARNINGS - 1, MAX_WARNINGS, MAX_WARNINGS + 1])('with %i warnings', (count) => {
    const fitted = fitCapabilities({ plugins: [], skills: [], warnings: many(count, 'w') });
    expect(fitted.warnings.length).toBe(Math.min(count, MAX_WARNINGS));
  });
});
