import { resolveLimits } from '@exec-server/server';
import { expect, it } from 'vitest';
import { externalName, SERVER_SETTINGS, SETTINGS, type Setting } from '../../src/serve/settings.js';

const { spillDir: _, closedRetention, ...named } = SERVER_SETTINGS;

it.each(Object.entries<Setting<unknown>>(named))('%s is as the server has it', (name, setting) => {
  const standard = resolveLimits()[name as keyof typeof named];
  expect(setting.default).toBe(String(standard));
  const takesZero = (() => {
    try {
      return resolveLimits({ [name]: 0 }) !== undefined;
    } catch {
      return false;
    }
  })();
  expect(setting.kind.fromConfig(0n) !== undefined).toBe(takesZero);
});

it('results are kept for as long as the server has it', () => {
  const { default: standard = '', kind } = closedRetention;
  expect(kind.fromText(standard, '--closed-retention')).toBe(resolveLimits().closedProcessRetentionMs);
  expect(kind.fromConfig('1h')).toBe(3_600_000);
  expect(kind.fromConfig('soon')).toBeUndefined();
});

it('says the unit of everything that has one', () => {
  const units = Object.entries<Setting<unknown>>(SETTINGS).map(([name, { placeholder }]) => [
    name,
    placeholder,
  ]);
  for (const [name, placeholder] of units) {
    if (name?.endsWith('Ms')) expect(placeholder).toBe('MS');
    if (name?.endsWith('Bytes')) expect(placeholder).toBe('BYTES');
    if (name?.endsWith('Seconds')) expect(placeholder).toBe('SECONDS');
  }
});

it('has names with dashes outside', () => {
  expect(['listen', 'wsTokenSha256', 'maxProcessesPerConnection'].map(externalName)).toEqual([
    'listen',
    'ws-token-sha256',
    'max-processes-per-connection',
  ]);
});
