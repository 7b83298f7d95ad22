import { readFileSync } from 'node:fs';
import { type ListenOptions, type ListenTarget, loadAuthPolicy, parseListenUrl } from '@exec-server/server';
import { externalName, type ServeSettings } from './settings.js';

/** One listener to open. */
export interface PlannedListener {
  readonly url: string;
  readonly options: ListenOptions;
}

const DEFAULT_LISTEN_URL = 'ws://127.0.0.1:0';

/** Gives each listener the options that concern it. Throws when an option concerns none. */
export function planListeners(settings: ServeSettings): PlannedListener[] {
  const urls = settings.listen ?? [DEFAULT_LISTEN_URL];
  const targets = urls.map((url) => parseListenUrl(url));
  if (targets.filter(({ kind }) => kind === 'stdio').length > 1) {
    throw new Error('there is only one stdio to listen on');
  }
  const webSocketOptions = readWebSocketOptions(settings, targets);
  const tls = readTls(settings, targets);
  return urls.map((url, index) => {
    const target = targets[index];
    if (target?.kind !== 'websocket') return { url, options: {} };
    return { url, options: { ...webSocketOptions, ...(target.tls && tls !== undefined && { tls }) } };
  });
}

function readWebSocketOptions(settings: ServeSettings, targets: readonly ListenTarget[]): ListenOptions {
  const auth = loadAuthPolicy({
    mode: settings.wsAuth,
    tokenFile: settings.wsTokenFile,
    tokenSha256: settings.wsTokenSha256,
    sharedSecretFile: settings.wsSharedSecretFile,
    issuer: settings.wsIssuer,
    audience: settings.wsAudience,
    maxClockSkewSeconds: settings.wsMaxClockSkewSeconds,
  });
  const { allowOrigin, allowHost, allowUnauthenticated } = settings;
  if (!targets.some(({ kind }) => kind === 'websocket')) {
    const kind = targets[0]?.kind;
    if (auth !== undefined) throw new Error(`WebSocket auth requires a WebSocket listener, not ${kind}`);
    for (const [flag, value] of Object.entries({ allowOrigin, allowHost, allowUnauthenticated })) {
      if (value !== undefined && value !== false)
        throw new Error(`\`--${externalName(flag)}\` requires a WebSocket listener, not ${kind}`);
    }
  }
  return {
    ...(auth !== undefined && { auth }),
    ...(allowOrigin !== undefined && { allowedOrigins: allowOrigin }),
    ...(allowHost !== undefined && { allowedHosts: allowHost }),
    ...(allowUnauthenticated === true && { allowUnauthenticated }),
  };
}

function readTls(settings: ServeSettings, targets: readonly ListenTarget[]): ListenOptions['tls'] {
  const { tlsCert, tlsKey } = settings;
  if (tlsCert === undefined && tlsKey === undefined) return undefined;
  if (tlsCert === undefined || tlsKey === undefined) {
    throw new Error('`--tls-cert` and `--tls-key` are only useful together');
  }
  if (!targets.some((target) => target.kind === 'websocket' && target.tls)) {
    throw new Error('`--tls-cert` and `--tls-key` require a `wss://` listener');
  }
  return { cert: readPem(tlsCert), key: readPem(tlsKey) };
}

function readPem(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (cause) {
    throw new Error(`failed to read ${path}: ${(cause as Error).message}`, { cause });
  }
}
