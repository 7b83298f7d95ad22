import { isIP } from 'node:net';
import { isAbsolute } from 'node:path';
import { ListenError } from './listen-error.js';

/** A parsed `--listen` value. */
export type ListenTarget =
  | {
      readonly kind: 'websocket';
      readonly tls: boolean;
      /** An IP address without brackets. */
      readonly host: string;
      /** 0 takes a free port. */
      readonly port: number;
    }
  | { readonly kind: 'unix'; readonly path: string }
  | { readonly kind: 'stdio' };

const WEBSOCKET_URL = /^(wss?):\/\/(?:\[([^\]]*)\]|([^:]*)):(\d+)$/;
const UNIX_PREFIX = 'unix://';
const MAX_PORT = 65_535;

/**
 * Reads `ws://IP:PORT`, `wss://IP:PORT`, `unix:///PATH`, `stdio` or `stdio://`.
 *
 * Deliberately no general URL parser: it would accept `ws://127.1:80`, default ports and paths, and a person
 * who writes those expects something other than what would be bound.
 */
export function parseListenUrl(url: string): ListenTarget {
  if (url === 'stdio' || url === 'stdio://') return { kind: 'stdio' };
  if (url.startsWith('ws://') || url.startsWith('wss://')) return parseWebSocketUrl(url);
  if (url.startsWith(UNIX_PREFIX)) return parseUnixUrl(url);
  throw unsupportedUrl(url);
}

function parseWebSocketUrl(url: string): ListenTarget {
  const [, scheme, host6, host4, digits] = WEBSOCKET_URL.exec(url) ?? [];
  const port = Number(digits);
  const isAddress = host6 === undefined ? isIP(host4 ?? '') === 4 : isIP(host6) === 6 && !host6.includes('%');
  if (!isAddress || port > MAX_PORT) {
    throw new ListenError(
      'invalid_url',
      `invalid websocket --listen URL \`${url}\`; expected \`${url.startsWith('wss') ? 'wss' : 'ws'}://IP:PORT\``,
    );
  }
  return { kind: 'websocket', tls: scheme === 'wss', host: host6 ?? host4 ?? '', port };
}

/** The path is taken literally: nothing in it is percent-decoded. */
function parseUnixUrl(url: string): ListenTarget {
  const path = url.slice(UNIX_PREFIX.length);
  if (!isAbsolute(path) || path.endsWith('/') || path.includes('\0')) {
    throw new ListenError(
      'invalid_url',
      `invalid unix --listen URL \`${url}\`; expected \`unix:///PATH\` with an absolute path`,
    );
  }
  return { kind: 'unix', path };
}

export function unsupportedUrl(url: string): ListenError {
  return new ListenError(
    'unsupported_url',
    `unsupported --listen URL \`${url}\`; expected \`ws://IP:PORT\` or \`stdio\` ` +
      '(also `unix:///PATH`, and `wss://IP:PORT` with --tls-cert and --tls-key)',
  );
}

/** `host:port` as it stands in a URL. */
export function formatAuthority(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
