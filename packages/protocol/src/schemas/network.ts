import type * as z from 'zod/mini';
import { describe, flag, integer, list, map, oneOf, tagged, text } from '../fields.js';
import { defaulted, nullable, struct } from '../struct.js';

/** Facts about a proxy that already runs, for the sandbox to let through. */
export const ManagedNetwork = struct('ManagedNetworkSandboxContext', {
  loopbackPorts: defaulted(list(integer('u16'), 'Loopback ports that may be connected to.')),
  allowLocalBinding: defaulted(flag('May bind local sockets and talk over loopback.')),
  allowUnixSockets: defaulted(list(text(), 'Unix sockets that may be connected to.')),
  dangerouslyAllowAllUnixSockets: defaulted(flag('May connect to every Unix socket.')),
});
export type ManagedNetwork = z.output<typeof ManagedNetwork>;

/** A family of credentials that the proxy masks. Names are in snake case. */
export const CredentialProvider = struct(
  'CredentialProviderConfig',
  {
    env: defaulted(list(text(), 'Variables that hold the credential.')),
    patterns: defaulted(list(text(), 'Patterns that the credential matches.')),
    url_prefixes: defaulted(list(text(), 'URL prefixes the credential may be sent to.')),
    url_prefix_from_env: nullable(text('Variable that holds one more URL prefix or host.'), {
      omittable: true,
    }),
    auth: defaulted(
      list(oneOf(['bearer', 'token', 'basic', 'header']), 'Ways in which the credential is sent.'),
    ),
    header: nullable(text('Header that carries the credential.'), { omittable: true }),
    prefix: nullable(text('What comes before the credential in the header.'), { omittable: true }),
  },
  { unknownMembers: 'refuse' },
);
export type CredentialProvider = z.output<typeof CredentialProvider>;

export const NetworkProxyConfig = struct('RemoteNetworkProxyConfig', {
  enabled: flag('Must be true.'),
  enableSocks5: flag('Offer SOCKS5 beside HTTP.'),
  enableSocks5Udp: flag('Offer UDP over SOCKS5.'),
  allowUpstreamProxy: flag("Go through the server's own upstream proxy."),
  dangerouslyAllowAllUnixSockets: flag('Let the process reach every Unix socket.'),
  mode: oneOf(['limited', 'full'], 'Which HTTP methods pass.'),
  domains: nullable(map(oneOf(['none', 'allow', 'deny']), 'Decision by domain pattern.')),
  unixSockets: nullable(map(oneOf(['allow', 'deny']), 'Decision by socket path.')),
  allowLocalBinding: flag('May bind local sockets and talk over loopback.'),
  reviewDomains: defaulted(list(text(), 'Domain patterns that are always asked about.')),
  credentialMasking: defaulted(flag('Hide credentials from the process and fill them in on the way out.')),
  credentialProviders: defaulted(map(CredentialProvider, 'Credentials to mask, by name.')),
});
export type NetworkProxyConfig = z.output<typeof NetworkProxyConfig>;

const auditText = () => nullable(text('Goes into the audit record.'));

export const NetworkAuditMetadata = struct('NetworkProxyAuditMetadata', {
  conversationId: auditText(),
  appVersion: auditText(),
  userAccountId: auditText(),
  authMode: auditText(),
  originator: auditText(),
  userEmail: auditText(),
  terminalType: auditText(),
  model: auditText(),
  slug: auditText(),
});
export type NetworkAuditMetadata = z.output<typeof NetworkAuditMetadata>;

/** A proxy that the server starts for one process. */
export const NetworkProxyLaunch = struct('RemoteNetworkProxyLaunchConfig', {
  proxy: describe(NetworkProxyConfig, 'What the proxy lets through.'),
  auditMetadata: defaulted(describe(NetworkAuditMetadata, 'Goes into the audit record.')),
  environmentId: nullable(text('Goes into the audit record.'), { omittable: true }),
  executionId: nullable(text('Goes into the audit record.'), { omittable: true }),
  policyDecisionTimeoutMs: nullable(
    integer('u64', 'Ask the client about undecided hosts and wait so many milliseconds; not 0.'),
    { omittable: true },
  ),
});
export type NetworkProxyLaunch = z.output<typeof NetworkProxyLaunch>;

export const NetworkTarget = struct('NetworkPolicyRequest', {
  protocol: oneOf(['http', 'https_connect', 'socks5_tcp', 'socks5_udp'], 'How the process wants to connect.'),
  host: text('Host name or address.'),
  port: integer('u16', 'Port.'),
});
export type NetworkTarget = z.output<typeof NetworkTarget>;

export const NetworkPolicyRequestParams = struct('NetworkPolicyRequestParams', {
  processId: text('Process that wants to connect.'),
  request: describe(NetworkTarget, 'Where to.'),
});
export type NetworkPolicyRequestParams = z.output<typeof NetworkPolicyRequestParams>;

export const NetworkDecision = tagged('NetworkPolicyDecision', 'type', {
  allow: {},
  deny: { reason: text('Why, for the record and for the process.') },
  ask: { reason: text('Why, for the record and for the process.') },
});
export type NetworkDecision = z.output<typeof NetworkDecision>;

export const NetworkPolicyRequestResult = struct('NetworkPolicyRequestResponse', {
  decision: describe(NetworkDecision, 'Whether the process may connect.'),
});
export type NetworkPolicyRequestResult = z.output<typeof NetworkPolicyRequestResult>;

export const NetworkPolicyDecisionNotification = struct('NetworkPolicyDecisionNotification', {
  processId: text('Process that wanted to connect.'),
  timestamp: text('When, as ISO 8601.'),
  scope: text('What the decision was about: `domain`.'),
  decision: text('`allow`, `deny` or `ask`.'),
  source: text('Who decided: `baseline_policy`, `decider`, …'),
  reason: text('Why.'),
  protocol: text('How the process wanted to connect.'),
  host: text('Host name or address.'),
  port: integer('u16', 'Port.'),
  method: nullable(text('HTTP method.')),
  client: nullable(text("Address of the process's end.")),
  policyOverride: flag('The decision differs from the baseline policy.'),
});
export type NetworkPolicyDecisionNotification = z.output<typeof NetworkPolicyDecisionNotification>;
