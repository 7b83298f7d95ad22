import type { AuthSettings, LogFormat, LogLevel } from '@exec-server/server';

/** The options of `serve` as the command line gives them; what is left out was not given. */
export interface ServeSettings {
  readonly listen?: readonly string[];
  readonly wsAuth?: AuthSettings['mode'];
  readonly wsTokenFile?: string;
  readonly wsTokenSha256?: string;
  readonly wsSharedSecretFile?: string;
  readonly wsIssuer?: string;
  readonly wsAudience?: string;
  readonly wsMaxClockSkewSeconds?: number;
  readonly allowOrigin?: readonly string[];
  readonly allowHost?: readonly string[];
  readonly allowUnauthenticated?: true;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly concurrentRequests?: number;
  readonly detachedSessionMs?: number;
  readonly logLevel?: LogLevel;
  readonly logFormat?: LogFormat;
  readonly auditLog?: string;
}
