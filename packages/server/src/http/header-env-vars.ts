import { holdsServerCredential } from '../environment/server-credentials.js';
import { HttpError } from './http-error.js';

/** The environment of the server. */
export type ServerEnv = Readonly<Record<string, string | undefined>>;

/** Credentials of other executors, and of the services that they use, which no client may send anywhere. In upper case. */
const PROTECTED_VARIABLES: ReadonlySet<string> = new Set([
  'CODEX_EXEC_SERVER_NOISE_AUTH_TOKEN',
  'OPENAI_FEDERATION_RULE_ID',
  'OPENAI_IDENTITY_TOKEN_FILE',
  'OPENAI_WORKLOAD_IDENTITY_CONTEXT',
  'OPENAI_API_KEY',
  'CODEX_API_KEY',
  'CODEX_ACCESS_TOKEN',
  'CODEX_CONNECTORS_TOKEN',
  'AWS_ACCESS_KEY_ID',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
  'AZURE_CLIENT_SECRET',
  'AZURE_FEDERATED_TOKEN_FILE',
  'GOOGLE_APPLICATION_CREDENTIALS',
]);

/** The value of a variable that the header `headerName` asks for. Throws an {@link HttpError}. */
export function readHeaderVariable(headerName: string, variable: string, env: ServerEnv): string {
  if (holdsServerCredential(variable) || PROTECTED_VARIABLES.has(variable.toUpperCase()))
    throw new HttpError(
      'refused',
      `header ${headerName} cannot use executor environment variable ${variable}`,
    );
  // The system cuts a name at a NUL, and finds `NAME=begin` in `NAME=begin=end`: neither is what was compared above.
  const exists = !/[\0=]/.test(variable) && Object.hasOwn(env, variable);
  const value = exists ? env[variable] : undefined;
  if (value === undefined)
    throw new HttpError('refused', `header ${headerName} requires executor environment variable ${variable}`);
  if (value === '')
    throw new HttpError(
      'refused',
      `header ${headerName} requires a non-empty executor environment variable ${variable}`,
    );
  return value;
}
