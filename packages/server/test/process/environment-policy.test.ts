import type { EnvPolicy } from '@exec-server/protocol';
import { describe, expect, it } from 'vitest';
import { resolveEnvironment } from '../../src/process/environment-policy.js';

const server = {
  PATH: '/bin',
  home: '/root',
  MY_TOKEN: 'sekret',
  FOO: 'foo',
  USER: 'u',
  EXEC_SERVER_TOKEN: 'ours',
};
const policy = (changes: Partial<EnvPolicy> = {}): EnvPolicy => ({
  inherit: 'all',
  ignoreDefaultExcludes: true,
  exclude: [],
  set: {},
  includeOnly: [],
  ...changes,
});
const resolve = (changes: Partial<EnvPolicy> | null, env: Record<string, string | null> = {}) =>
  Object.fromEntries(
    resolveEnvironment(server, { env, policy: changes === null ? null : policy(changes), extra: new Map() }),
  );

it('without a policy the request is the whole environment', () => {
  expect(resolve(null, { A: '1' })).toEqual({ A: '1' });
});

describe('a policy', () => {
  it('inherits everything but our own variables', () => {
    expect(resolve({})).toEqual({ PATH: '/bin', home: '/root', MY_TOKEN: 'sekret', FOO: 'foo', USER: 'u' });
  });

  it('inherits core names without regard to case', () => {
    expect(resolve({ inherit: 'core' })).toEqual({ PATH: '/bin', home: '/root', USER: 'u' });
  });

  it('inherits nothing', () => {
    expect(resolve({ inherit: 'none' })).toEqual({});
  });

  it('drops names that look like secrets, but not those it sets itself', () => {
    const env = resolve({ ignoreDefaultExcludes: false, set: { SET_TOKEN: 'x' } });
    expect(env).not.toHaveProperty('MY_TOKEN');
    expect(env).toHaveProperty('SET_TOKEN', 'x');
  });

  it('drops what it excludes and keeps only what it includes, its own settings too', () => {
    expect(resolve({ exclude: ['fo*', 'p?th'], inherit: 'all' })).toEqual({
      home: '/root',
      MY_TOKEN: 'sekret',
      USER: 'u',
    });
    expect(resolve({ set: { USERX: '2', Q: '1' }, includeOnly: ['user*'] })).toEqual({
      USER: 'u',
      USERX: '2',
    });
  });

  it('is overlaid by the request, which nothing filters', () => {
    expect(resolve({ inherit: 'none', set: { A: 'policy' } }, { A: 'request', A_TOKEN: 't' })).toEqual({
      A: 'request',
      A_TOKEN: 't',
    });
  });

  it('loses what the request removes, by its exact name', () => {
    expect(resolve({ set: { A: 'policy' } }, { A: null, MY_TOKEN: null, foo: null, HOME: null })).toEqual({
      PATH: '/bin',
      home: '/root',
      FOO: 'foo',
      USER: 'u',
    });
  });
});

it('launch secrets never reach a child, in any case and from any source', () => {
  const env = { node_repl_auth_token: 'x', OPENAI_IDENTITY_TOKEN_FILE: 'y', K: 'v' };
  expect(resolve({ inherit: 'none', set: { CODEX_EXEC_SERVER_NOISE_AUTH_TOKEN: 'z' } }, env)).toEqual({
    K: 'v',
  });
});
