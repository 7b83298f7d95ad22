import { expect, it } from 'vitest';
import { readHeaderVariable } from '../../src/http/header-env-vars.js';

const env = { TOKEN: 'secret', EMPTY: '', OPENAI_API_KEY: 'key', aws_session_token: 'token' };

it('reads a variable', () => {
  expect(readHeaderVariable('X', 'TOKEN', env)).toBe('secret');
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
])('never tells %s, set or not', (variable) => {
  expect(() => readHeaderVariable('X', variable, env)).toThrow(
    `header X cannot use executor environment variable ${variable}`,
  );
});

it.each(['OPENAI_API_KEY\0', 'OPENAI_API_KEY\0x', 'HOME\0'])(
  'a name with a NUL in it, %j, names nothing',
  (variable) => {
    // The real environment, because it is the system that cuts names.
    process.env.OPENAI_API_KEY ??= 'canary';
    expect(() => readHeaderVariable('x', variable, process.env)).toThrow(
      'requires executor environment variable',
    );
  },
);
