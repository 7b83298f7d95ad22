import { realpathSync } from 'node:fs';
import { machine, release, type as systemName } from 'node:os';
import { join, resolve } from 'node:path';
import { app, invalidRequest } from '@exec-server/protocol';
import { findUserHome } from '../../environment/codex-home.js';
import { VERSION } from '../../version.js';

type Environment = Readonly<Record<string, string | undefined>>;

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
export function describeServer({ name, version }: app.ClientInfo, codexHome: string): app.InitializeResult {
  return {
    userAgent: describeAgent(name, version),
    codexHome,
    platformFamily: process.platform === 'win32' ? 'windows' : 'unix',
    platformOs: process.platform === 'darwin' ? 'macos' : process.platform === 'win32' ? 'windows' : 'linux',
  };
}

/** Server, system and client in the form of an HTTP header; what a header cannot have is replaced. */
function describeAgent(name: string, version: string): string {
  const agent = `${name}/${VERSION} (${systemName()} ${release()}; ${machine()}) exec-server (${name}; ${version})`;
  return HEADER_VALUE.test(agent) ? agent : agent.replace(/[^ -~]/gu, '_');
}

/** Where the files of Codex are. It asks the file system, and waits for it: for the start of a server. */
export function locateCodexHome(serverEnv: Environment): string {
  const { CODEX_HOME } = serverEnv;
  if (!CODEX_HOME) return join(findUserHome(serverEnv), '.codex');
  try {
    return realpathSync(CODEX_HOME);
  } catch {
    // Whoever reads from there is told what is wrong with it.
    return resolve(CODEX_HOME);
  }
}
