import { readFileSync } from 'node:fs';
import type { AuthPolicy } from './auth.js';
import { createCapabilityTokenPolicy, sha256 } from './capability-token.js';
import { ListenError, systemErrorText } from './listen-error.js';
import { createSignedTokenPolicy } from './signed-token.js';

/** The `--ws-auth` family as given; which members belong together is checked by {@link loadAuthPolicy}. */
export interface AuthSettings {
  readonly mode?: 'capability-token' | 'signed-bearer-token' | undefined;
  /** File with the capability token; white space around it does not count. */
  readonly tokenFile?: string | undefined;
  /** SHA-256 of the capability token, 64 hex digits. */
  readonly tokenSha256?: string | undefined;
  /** File with the HS256 secret, at least 32 bytes without the white space around it. */
  readonly sharedSecretFile?: string | undefined;
  readonly issuer?: string | undefined;
  readonly audience?: string | undefined;
  /** @default 30 */
  readonly maxClockSkewSeconds?: number | undefined;
}

/** RFC 7518 §3.2: an HS256 key is at least as long as the digest. */
const MIN_SECRET_BYTES = 32;

/**
 * Turns settings into a policy, or into nothing when authentication is not asked for. Secrets are read here,
 * once: a file that changes later changes nothing. Throws a {@link ListenError}.
 */
export function loadAuthPolicy(settings: AuthSettings): AuthPolicy | undefined {
  const { mode, tokenFile, tokenSha256, sharedSecretFile, issuer, audience, maxClockSkewSeconds } = settings;
  const hasTokenSettings = tokenFile !== undefined || tokenSha256 !== undefined;
  const hasSignedSettings = [sharedSecretFile, issuer, audience, maxClockSkewSeconds].some(
    (value) => value !== undefined,
  );
  switch (mode) {
    case undefined:
      if (!hasTokenSettings && !hasSignedSettings) return undefined;
      throw invalid(
        'websocket auth flags require `--ws-auth capability-token` or `--ws-auth signed-bearer-token`',
      );
    case 'capability-token':
      if (hasSignedSettings) {
        throw invalid(
          '`--ws-shared-secret-file`, `--ws-issuer`, `--ws-audience`, and `--ws-max-clock-skew-seconds` ' +
            'require `--ws-auth signed-bearer-token`',
        );
      }
      return createCapabilityTokenPolicy(loadTokenDigest(tokenFile, tokenSha256));
    case 'signed-bearer-token':
      if (hasTokenSettings) {
        throw invalid(
          '`--ws-token-file` and `--ws-token-sha256` require `--ws-auth capability-token`, ' +
            'not `signed-bearer-token`',
        );
      }
      return createSignedTokenPolicy({
        secret: loadSharedSecret(sharedSecretFile),
        ...(issuer !== undefined && { issuer }),
        ...(audience !== undefined && { audience }),
        ...(maxClockSkewSeconds !== undefined && { maxClockSkewSeconds }),
      });
  }
}

function loadTokenDigest(file: string | undefined, digest: string | undefined): Buffer {
  if (file !== undefined && digest !== undefined) {
    throw invalid('`--ws-token-file` and `--ws-token-sha256` are mutually exclusive');
  }
  if (file !== undefined) return sha256(readSecret(file));
  if (digest === undefined) {
    throw invalid(
      '`--ws-token-file` or `--ws-token-sha256` is required when `--ws-auth capability-token` is set',
    );
  }
  if (!/^[0-9a-f]{64}$/i.test(digest)) {
    throw invalid('--ws-token-sha256 must be a 64-character hex SHA-256 digest');
  }
  return Buffer.from(digest, 'hex');
}

function loadSharedSecret(file: string | undefined): Buffer {
  if (file === undefined) {
    throw invalid('`--ws-shared-secret-file` is required when `--ws-auth signed-bearer-token` is set');
  }
  const secret = Buffer.from(readSecret(file));
  if (secret.length < MIN_SECRET_BYTES) {
    throw unusable(`signed websocket bearer secret ${file} must be at least ${MIN_SECRET_BYTES} bytes`);
  }
  return secret;
}

function readSecret(file: string): string {
  const secret = decodeUtf8(file, readSecretFile(file)).trim();
  if (secret === '') throw unusable(`websocket auth secret ${file} must not be empty`);
  return secret;
}

function readSecretFile(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (cause) {
    throw unreadable(file, systemErrorText(cause as NodeJS.ErrnoException), cause);
  }
}

/** Strict: replacement characters would make a guessable secret out of a binary one. */
function decodeUtf8(file: string, bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw unreadable(file, 'stream did not contain valid UTF-8', cause);
  }
}

function unreadable(file: string, why: string, cause: unknown): ListenError {
  return unusable(`failed to read websocket auth secret ${file}: ${why}`, { cause });
}

function invalid(message: string): ListenError {
  return new ListenError('invalid_options', message);
}

function unusable(message: string, options?: ErrorOptions): ListenError {
  return new ListenError('unusable_secret', message, options);
}
