import { requireWholeNumber, usageError } from '../usage.js';
import type { DialOptions } from './dial-options.js';
import type { Dialer } from './dialer.js';
import { createInProcessDialer } from './in-process-dialer.js';
import {
  type ConnectTarget,
  isAcceptingServer,
  isDialer,
  isStdioTarget,
  isTransport,
  type StdioTarget,
} from './target.js';
import { createTransportDialer } from './transport-dialer.js';

const UNIX_PREFIX = 'unix://';
const WEBSOCKET_PROTOCOLS: ReadonlySet<string> = new Set(['ws:', 'wss:']);

/** What means nothing to a server that is reached otherwise. */
const WEBSOCKET_OPTIONS = ['token', 'tls', 'headers'] as const;

/** What a platform has to reach servers outside this process. Each throws `usage` where it has nothing. */
export interface PlatformDialers {
  websocket(url: string, options: DialOptions): Dialer;
  unix(path: string, options: DialOptions): Dialer;
  stdio(target: StdioTarget, options: DialOptions): Dialer;
}

/**
 * Chooses how to reach `target`. Sends nothing yet.
 *
 * @throws ExecServerError `usage` for a target that cannot be reached, and for options that mean nothing to it
 */
export function createDialerOn(
  platform: PlatformDialers,
  target: ConnectTarget,
  options: DialOptions,
): Dialer {
  requireWholeNumber('connectTimeoutMs', options.connectTimeoutMs, 1);
  if (typeof target === 'string' || target instanceof URL) return dialUrl(platform, String(target), options);
  if (typeof target === 'object' && target !== null) {
    refuse(options, WEBSOCKET_OPTIONS, 'ws:// and wss://');
    if (isDialer(target)) return target;
    if (isStdioTarget(target)) return platform.stdio(target, options);
    if (isAcceptingServer(target)) return createInProcessDialer(target);
    if (isTransport(target)) return createTransportDialer(target);
  }
  throw usageError('expected a URL, a command, a server, a transport or a dialer to connect to');
}

function dialUrl(platform: PlatformDialers, url: string, options: DialOptions): Dialer {
  if (url.startsWith(UNIX_PREFIX)) {
    refuse(options, WEBSOCKET_OPTIONS, 'ws:// and wss://');
    // Taken literally, as the server does: nothing in it is percent-decoded.
    const path = url.slice(UNIX_PREFIX.length);
    if (!path.startsWith('/'))
      throw usageError('expected unix:// and an absolute path, such as unix:///run/exec.sock');
    return platform.unix(path, options);
  }
  if (!URL.canParse(url) || !WEBSOCKET_PROTOCOLS.has(new URL(url).protocol))
    throw usageError(
      'expected a URL that begins with ws://, wss:// or unix://, or on Node the name of a context',
    );
  if (new URL(url).protocol !== 'wss:') refuse(options, ['tls'], 'wss://');
  return platform.websocket(url, options);
}

/** An option that would be ignored is refused: whoever sets it counts on it. */
function refuse(options: DialOptions, names: readonly (keyof DialOptions)[], where: string): void {
  const given = names.find((name) => options[name] !== undefined);
  if (given !== undefined) throw usageError(`\`${given}\` is for ${where} only`);
}
