import { describe, expect, it } from 'vitest';
import { ProxyConfigError } from '../../../src/network-proxy/proxy-config-error.js';
import { type HostRuleOptions, HostRules } from '../../../src/network-proxy/rules/host-rules.js';

const rules = (changes: Partial<HostRuleOptions>) =>
  new HostRules({ domains: {}, reviewDomains: [], allowLocalBinding: false, ...changes });

const OPEN = { allowLocalBinding: true, domains: { '*': 'allow' } } as const;
const DENIED = { '*': 'allow', '1.2.3.4': 'deny' } as const;

describe('hosts', () => {
  it.each<[string, Partial<HostRuleOptions>, string, string]>([
    ['nothing is allowed by itself', {}, 'example.com', 'not_allowed'],
    ['what is allowed', { domains: { 'example.com': 'allow' } }, 'example.com', 'allowed'],
    ['a rule that says nothing', { domains: { 'example.com': 'none' } }, 'example.com', 'not_allowed'],
    ['a denial counts more', { domains: { '*': 'allow', '*.com': 'deny' } }, 'example.com', 'denied'],
    ['local addresses', {}, '127.0.0.1', 'not_allowed_local'],
    ['a wildcard means no local ones', { domains: { '*': 'allow' } }, 'localhost', 'not_allowed_local'],
    ['nor does one that fits', { domains: { '127.0.0.*': 'allow' } }, '127.0.0.1', 'not_allowed_local'],
    ['but its own name does', { domains: { '127.0.0.1': 'allow' } }, '127.0.0.1', 'allowed'],
    ['local ones count like all others', { allowLocalBinding: true }, '127.0.0.1', 'not_allowed'],
    ['and may be allowed', { allowLocalBinding: true, domains: { '*': 'allow' } }, '10.0.0.1', 'allowed'],
    ['a translated local one', { domains: { '*': 'allow' } }, '::ffff:0:7f00:1', 'not_allowed_local'],
    ['a denied one inside of another', { ...OPEN, domains: DENIED }, '64:ff9b::102:304', 'denied'],
    ['the same in 6to4', { ...OPEN, domains: DENIED }, '2002:102:304::', 'denied'],
    ['the same below any prefix', { ...OPEN, domains: DENIED }, '2606:4700::5efe:102:304', 'denied'],
    ['another one inside of it', { ...OPEN, domains: DENIED }, '64:ff9b::102:305', 'allowed'],
    [
      'a reviewed one inside of another',
      { ...OPEN, reviewDomains: ['1.2.3.4'] },
      '::ffff:0:102:304',
      'not_allowed',
    ],
    [
      'an allowed one inside of another',
      { domains: { '1.2.3.4': 'allow' } },
      '2606:4700::5efe:102:304',
      'not_allowed',
    ],
    ['a review', { domains: { '*': 'allow' }, reviewDomains: ['a.com'] }, 'a.com', 'not_allowed'],
    ['a denial before a review', { domains: { 'a.com': 'deny' }, reviewDomains: ['*'] }, 'a.com', 'denied'],
  ])('%s', (_name, changes, host, verdict) => {
    expect(rules(changes).judge(host)).toBe(verdict);
  });
});

describe('addresses of a name', () => {
  it.each<[string, Partial<HostRuleOptions>, string[], string]>([
    ['public', {}, ['1.1.1.1', '2606:4700::1111'], 'allowed'],
    ['none', {}, [], 'not_allowed_local'],
    ['one local among them', {}, ['1.1.1.1', '127.0.0.1'], 'not_allowed_local'],
    ['a denied one, mapped', { ...OPEN, domains: DENIED }, ['::ffff:1.2.3.4'], 'denied'],
    ['a denied one, translated', { ...OPEN, domains: DENIED }, ['::ffff:0:1.2.3.4'], 'denied'],
    ['a denied one with a zone', { ...OPEN, domains: { 'fe80::1': 'deny' } }, ['fe80::1%eth0'], 'denied'],
    ['translated local ones', {}, ['::ffff:0:127.0.0.1'], 'not_allowed_local'],
    ['metadata', { domains: { 'a.com': 'allow' } }, ['169.254.169.254'], 'not_allowed_local'],
    ['local ones are allowed', { allowLocalBinding: true }, ['127.0.0.1'], 'allowed'],
    ['a denied address', { domains: { '1.1.1.1': 'deny' } }, ['1.1.1.1'], 'denied'],
  ])('%s', (_name, changes, addresses, verdict) => {
    expect(rules(changes).judgeAddresses('a.com', addresses)).toBe(verdict);
  });

  it('are no matter for a host that says itself that it is local', () => {
    expect(rules({}).judgeAddresses('localhost', ['127.0.0.1'])).toBe('allowed');
  });
});

it('refuses to deny everything, which is what no rules do', () => {
  const message =
    'invalid value for network.denied_domains: * (allowed exact hosts or scoped wildcards like *.example.com or **.example.com)';
  expect(() => rules({ domains: { '*': 'deny' } })).toThrow(new ProxyConfigError(message));
});
