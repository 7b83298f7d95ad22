import { arch, release, type as systemName } from 'node:os';
import { join, resolve } from 'node:path';
import { app, invalidRequest } from '@exec-server/protocol';
import { findUserHome } from '../../environment/codex-home.js';
import { VERSION } from '../../version.js';

/** Characters that an HTTP header value may have. */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\uffff]*$/;

/** Decodes the params of `initialize`. Throws an `RpcError`. */
export function decodeInitialize(raw: unknown): app.InitializeParams {
  const params = app.decodeParams(app.InitializeParams, raw);
  const { name } = params.clientInfo;
  if (!HEADER_VALUE.test(name))
    throw invalidRequest(`Invalid clientInfo.name: '${name}'. Must be a valid HTTP header value.`);
  return params;
}

/** What a client is told about this server. */
export function describeServer(
  { name, version }: app.ClientInfo,
  serverEnv: Readonly<Record<string, string | undefined>>,
): app.InitializeResult {
  const { CODEX_HOME, TERM } = serverEnv;
  return {
    userAgent: `${name}/${VERSION} (${systemName()} ${release()}; ${arch()}) ${TERM || 'unknown'} (${name}; ${version})`,
    codexHome: CODEX_HOME ? resolve(CODEX_HOME) : join(findUserHome(serverEnv), '.codex'),
    platformFamily: process.platform === 'win32' ? 'windows' : 'unix',
    platformOs: process.platform === 'darwin' ? 'macos' : process.platform === 'win32' ? 'windows' : 'linux',
  };
}
