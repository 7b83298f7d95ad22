/** A bearer token, or what gets one: asked before each connection, so that it may give a new one. */
export type TokenSource = string | (() => string | Promise<string>);

/** How a `wss://` server proves itself, and we to it. Certificates and keys are PEM. */
export interface TlsOptions {
  /** Authorities to trust. @default those that Node trusts */
  readonly ca?: string | Uint8Array | readonly (string | Uint8Array)[];
  /** Our own certificate. */
  readonly cert?: string | Uint8Array;
  /** Key of our certificate. */
  readonly key?: string | Uint8Array;
  /** Name that the certificate of the server must have. @default the host of the URL */
  readonly servername?: string;
  /** False takes any certificate, and with it whoever answers. @default true */
  readonly rejectUnauthorized?: boolean;
}

/** How connections are made. */
export interface DialOptions {
  /** Credential for `ws://` and `wss://`. */
  readonly token?: TokenSource;
  /** Time until a connection must stand, including that to get the token, in milliseconds. @default 10000 */
  readonly connectTimeoutMs?: number;
  /** For `wss://`. Node only: a page leaves that to its browser. */
  readonly tls?: TlsOptions;
  /** Further headers of the WebSocket handshake. Node only. */
  readonly headers?: Readonly<Record<string, string>>;
}

export const DEFAULT_CONNECT_TIMEOUT_MS = 10_000;
