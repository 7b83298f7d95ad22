import { expect, it } from 'vitest';
import {
  decodeParams,
  decodeResult,
  NetworkPolicyDecisionNotification,
  NetworkPolicyRequestParams,
  NetworkPolicyRequestResult,
  NetworkProxyLaunch,
} from '../../src/index.js';
import { problemOf } from './problem-of.js';

const proxy = {
  enabled: true,
  enableSocks5: false,
  enableSocks5Udp: false,
  allowUpstreamProxy: false,
  dangerouslyAllowAllUnixSockets: false,
  mode: 'full',
  allowLocalBinding: false,
};

it('takes what the reference client sends', () => {
  const launch = {
    proxy: { ...proxy, domains: null, unixSockets: null },
    policyDecisionTimeoutMs: 2000,
    environmentId: 'e1',
    executionId: null,
  };
  expect(decodeParams(NetworkProxyLaunch, launch)).toEqual({
    proxy,
    policyDecisionTimeoutMs: 2000,
    environmentId: 'e1',
  });
});

it.each([
  [{ proxy: { ...proxy, mode: 'x' } }, 'unknown variant `x`, expected `limited` or `full`'],
  [
    { proxy: { ...proxy, domains: { a: 'x' } } },
    'unknown variant `x`, expected one of `none`, `allow`, `deny`',
  ],
  [{ proxy: { ...proxy, unixSockets: { a: 'x' } } }, 'unknown variant `x`, expected `allow` or `deny`'],
  [{ proxy: { ...proxy, reviewDomains: null } }, 'invalid type: null, expected a sequence'],
  [
    { proxy: { ...proxy, credentialProviders: { a: { zzz: 1 } } } },
    'unknown field `zzz`, expected one of `env`, `patterns`, `url_prefixes`, `url_prefix_from_env`, `auth`, `header`, `prefix`',
  ],
  [{ proxy, auditMetadata: null }, 'invalid type: null, expected struct NetworkProxyAuditMetadata'],
  [{ proxy, policyDecisionTimeoutMs: -1 }, 'invalid number'],
  [{ proxy: {} }, 'missing field `enabled`'],
])('%# is refused', (launch, problem) => {
  expect(problemOf(NetworkProxyLaunch, launch)).toBe(problem);
});

it('reads the callbacks', () => {
  const request = { processId: 'p', request: { protocol: 'http', host: 'example.invalid', port: 80 } };
  expect(decodeParams(NetworkPolicyRequestParams, request)).toEqual(request);
  const answer = { decision: { type: 'deny', reason: 'because' } };
  expect(decodeResult(NetworkPolicyRequestResult, answer)).toEqual(answer);
  expect(() => decodeResult(NetworkPolicyRequestResult, { decision: { type: 'deny' } })).toThrow(
    'missing field `reason`',
  );
  const decision = {
    processId: 'p',
    timestamp: '2026-01-01T00:00:00Z',
    scope: 'domain',
    decision: 'deny',
    source: 'decider',
    reason: 'because',
    protocol: 'http',
    host: 'example.invalid',
    port: 80,
    method: 'GET',
    policyOverride: false,
  };
  expect(decodeParams(NetworkPolicyDecisionNotification, { ...decision, client: null })).toEqual(decision);
});
