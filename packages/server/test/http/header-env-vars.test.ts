import { expect, it, onTestFinished, vi } from 'vitest';
import { readHeaderVariable } from '../../src/http/header-env-vars.js';

const env = {
  TOKEN: 'secret',
  EXEC_SERVERS: 'two',
  NO_PROXY: 'a',
  SSL_CERT_FILE: '/ca',
  EXEC_SERVER_TOKEN: 'own',
  EMPTY: '',
  OPENAI_API_KEY: 'key',
  aws_session_token: 'token',
};

it('reads a variable', () => {
  expect(readHeaderVariable('X', 'TOKEN', env)).toBe('secret');
  for (const harmless of ['EXEC_SERVERS', 'NO_PROXY', 'SSL_CERT_FILE'] as const)
    expect(readHeaderVariable('X', harmless, env)).toBe(env[harmless]);
});

it.each([
  ['NONE', 'header X requires executor environment variable NONE'],
  ['', 'header X requires executor environment variable '],
  ['toString', 'header X requires executor environment variable toString'],
  ['EMPTY', 'header X requires a non-empty executor environment variable EMPTY'],
])('refuses %j', (variable, message) => {
  expect(() => readHeaderVariable('X', variable, env)).toThrow(
    expect.objectContaining({ failure: 'refused', message }),
  );
});

it.each([
  'CODEX_EXEC_SERVER_NOISE_AUTH_TOKEN',
  'OPENAI_FEDERATION_RULE_ID',
  'OPENAI_IDENTITY_TOKEN_FILE',
  'OPENAI_WORKLOAD_IDENTITY_CONTEXT',
  'OPENAI_API_KEY',
  'openai_api_key',
  'CODEX_API_KEY',
  'CODEX_ACCESS_TOKEN',
  'CODEX_CONNECTORS_TOKEN',
  'AWS_ACCESS_KEY_ID',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
  'aws_session_token',
  'AZURE_CLIENT_SECRET',
  'AZURE_FEDERATED_TOKEN_FILE',
  'GOOGLE_APPLICATION_CREDENTIALS',
  'EXEC_SERVER_TOKEN',
  'exec_server_token',
  'Exec_Server_URL',
  'EXEC_SERVER_',
  'EXEC_SERVER_TOKEN\0',
  'EXEC_SERVER_TOKEN=a',
  'HTTP_PROXY',
  'https_proxy',
  'All_Proxy',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'OTEL_EXPORTER_OTLP_TRACES_HEADERS',
])('never tells %s, set or not', (variable) => {
  expect(() => readHeaderVariable('X', variable, env)).toThrow(
    `header X cannot use executor environment variable ${variable}`,
  );
});

it.each(['OPENAI_API_KEY\0', 'OPENAI_API_KEY\0x', 'HOME\0', 'OPENAI_API_KEY=begin', 'HOME='])(
  'a name that no variable can have, %j, names nothing',
  (variable) => {
    // The real environment, because it is the system that looks up names.
    vi.stubEnv('OPENAI_API_KEY', 'begin=end');
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(() => readHeaderVariable('x', variable, process.env)).toThrow(
      'requires executor environment variable',
    );
  },
);
