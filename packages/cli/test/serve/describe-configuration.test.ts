import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { describeConfiguration } from '../../src/serve/describe-configuration.js';
import { SETTINGS } from '../../src/serve/settings.js';

it('has every setting among the defaults, as a value of its kind or unset', () => {
  const [defaults] = describeConfiguration({});
  expect(Object.keys(defaults?.settings ?? {})).toEqual(Object.keys(SETTINGS));
  expect(defaults?.settings).toMatchObject({
    listen: ['ws://127.0.0.1:0'],
    maxProcesses: 10_000,
    allowDirectExec: true,
    acceptNativePaths: false,
    allowUnauthenticated: false,
    logLevel: 'warn',
    logFormat: null,
    spillDir: null,
    wsAuth: null,
  });
});

it('tells the file from the flags', () => {
  const file = { path: 'server.toml', settings: { maxProcesses: 5, logLevel: 'debug' } as const };
  expect(describeConfiguration({ maxProcesses: 6 }, file).slice(1)).toEqual([
    {
      source: { kind: 'file', file: resolve('server.toml') },
      settings: { maxProcesses: 5, logLevel: 'debug' },
    },
    { source: { kind: 'flags' }, settings: { maxProcesses: 6 } },
  ]);
});

it('keeps from clients what they could guess a token by', () => {
  const wsTokenSha256 = 'ab'.repeat(32);
  const told = describeConfiguration({ wsTokenSha256 }, { path: 'c', settings: { wsTokenSha256 } });
  expect(JSON.stringify(told)).not.toContain(wsTokenSha256);
  expect(told.at(-1)?.settings).toEqual({ wsTokenSha256: '<hidden>' });
});
