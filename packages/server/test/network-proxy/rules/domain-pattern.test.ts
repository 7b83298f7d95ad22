import { describe, expect, it } from 'vitest';
import { ProxyConfigError } from '../../../src/network-proxy/proxy-config-error.js';
import {
  MAX_PATTERN_CHARACTERS,
  parseDomainPattern,
} from '../../../src/network-proxy/rules/domain-pattern.js';

it.each([
  [-1, true],
  [0, true],
  [1, false],
])('a pattern of %i characters more than the longest is taken: %s', (more, isTaken) => {
  const parse = () => parseDomainPattern(`${'*'.repeat(MAX_PATTERN_CHARACTERS + more - 4)}.com`);
  if (isTaken) expect(parse().matches('a.com')).toBe(true);
  else expect(parse).toThrow(ProxyConfigError);
});

describe('what a pattern means', () => {
  it.each([
    ['example.com', ['example.com'], ['a.example.com', 'xexample.com', 'example.org']],
    ['Example.COM.', ['example.com'], ['a.example.com']],
    ['*.example.com', ['a.example.com', 'a.b.example.com'], ['example.com', 'xexample.com', '.example.com']],
    ['**.example.com', ['example.com', 'a.example.com', 'a.b.example.com'], ['xexample.com']],
    ['*', ['example.com', '127.0.0.1', 'x'], []],
    ['**', ['example.com'], []],
    ['region*.example.com', ['region.example.com', 'region1.example.com'], ['xregion1.example.com']],
    ['a?.example.com', ['ab.example.com'], ['a.example.com', 'abc.example.com']],
    [' example.com ', ['example.com'], []],
    ['[::1]', ['::1'], ['::2']],
    ['0x7f.1', ['127.0.0.1'], []],
    ['127.0.0.*', ['127.0.0.1', '127.0.0.25'], ['127.0.1.1']],
  ])('%s', (pattern, matching, others) => {
    const { matches } = parseDomainPattern(pattern);
    expect(matching.filter((host) => !matches(host))).toEqual([]);
    expect(others.filter(matches)).toEqual([]);
  });

  it('names one host, all hosts, or several', () => {
    expect(parseDomainPattern('Example.com')).toMatchObject({ host: 'example.com' });
    expect(parseDomainPattern('*')).toMatchObject({ isGlobal: true });
    expect(parseDomainPattern('*.example.com')).not.toHaveProperty('host');
  });
});

it.each([
  ['', 'domain pattern is empty'],
  ['  ', 'domain pattern is empty'],
  ['**.', 'domain pattern is empty'],
  ['a[.com', 'brackets are only supported for IPv6 literals or [*]: a[.com'],
  ['https://example.com', 'invalid domain pattern: https://example.com'],
  ['example.com:443', 'invalid domain pattern: example.com:443'],
  ['*.exa mple', 'invalid domain pattern: *.exa mple'],
])('refuses %j', (pattern, message) => {
  expect(() => parseDomainPattern(pattern)).toThrow(new ProxyConfigError(message));
});
