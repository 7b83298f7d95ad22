import { type Transport, withoutSecrets } from '@exec-server/rpc';
import { ExecServerError } from '../errors.js';
import type { DialOptions, TokenSource } from './dial-options.js';
import { dialWithin } from './dial-within.js';
import type { Dialer } from './dialer.js';

/** Opens one WebSocket, with whatever the platform has for it. */
export type OpenWebSocket = (
  url: string,
  options: { readonly token?: string; readonly signal: AbortSignal },
) => Promise<Transport>;

/** Dials `ws://` and `wss://`, each time with a token that is valid then. */
export function createWebSocketDialer(url: string, options: DialOptions, open: OpenWebSocket): Dialer {
  const address = withoutSecrets(url);
  return {
    address,
    redials: true,
    dial: (signal) =>
      dialWithin(address, options, signal, async (attempt) => {
        const token = await getToken(address, options.token);
        return open(url, { signal: attempt, ...(token !== undefined && { token }) });
      }),
    close: () => Promise.resolve(),
  };
}

async function getToken(address: string, source: TokenSource | undefined): Promise<string | undefined> {
  if (typeof source !== 'function') return source;
  try {
    return await source();
  } catch (cause) {
    const message = `failed to get a token for exec-server at ${address}`;
    throw new ExecServerError('connect_failed', message, { cause, retryable: true });
  }
}
