import { ListenError } from './listen-error.js';
import type { ListenOptions } from './listen-options.js';
import { type ListenTarget, parseListenUrl, unsupportedUrl } from './listen-url.js';
import type { AcceptConnection, Listener } from './listener.js';

export type { ListenOptions };

const WEBSOCKET_ONLY = [
  'allowedOrigins',
  'allowedHosts',
  'allowUnauthenticated',
  'http',
  'keepAlive',
] as const satisfies readonly (keyof ListenOptions)[];

/**
 * Takes connections at `url` (`ws://IP:PORT`, `wss://IP:PORT`, `unix:///PATH`, `stdio`) and hands each to `accept`.
 * Throws a {@link ListenError} when it cannot.
 */
export async function openListener(
  url: string,
  options: ListenOptions,
  accept: AcceptConnection,
): Promise<Listener> {
  const target = parseListenUrl(url);
  refuseForeignOptions(url, target, options);
  // Loaded here so that a server that never listens, or on stdio only, does not load HTTP, TLS and WebSockets.
  switch (target.kind) {
    case 'websocket': {
      const { openWebSocketListener } = await import('./websocket.js');
      return openWebSocketListener(target, options, accept);
    }
    case 'unix': {
      const { openUnixSocketListener } = await import('./unix-socket.js');
      return openUnixSocketListener(target, options, accept);
    }
    case 'stdio': {
      const { openStdioListener } = await import('./stdio.js');
      return openStdioListener(options, accept);
    }
  }
}

/** An option that would do nothing is a mistake of the caller, and one that guards something a dangerous one. */
function refuseForeignOptions(url: string, target: ListenTarget, options: ListenOptions): void {
  if (target.kind !== 'websocket') {
    if (options.auth !== undefined) {
      throw invalid(`WebSocket auth requires a WebSocket listener, not ${target.kind}`);
    }
    for (const name of WEBSOCKET_ONLY) {
      if (options[name] !== undefined)
        throw invalid(`${name} requires a WebSocket listener, not ${target.kind}`);
    }
  }
  const isTls = target.kind === 'websocket' && target.tls;
  if (isTls && options.tls === undefined) throw unsupportedUrl(url);
  if (!isTls && options.tls !== undefined)
    throw invalid(`a TLS certificate requires a wss:// listener, not ${url}`);
  if (target.kind !== 'stdio' && options.streams !== undefined) {
    throw invalid(`streams require a stdio listener, not ${url}`);
  }
}

function invalid(message: string): ListenError {
  return new ListenError('invalid_options', message);
}
