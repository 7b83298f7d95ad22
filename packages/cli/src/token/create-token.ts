import { createHash, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { CommandError } from '../command-error.js';

/** As many as the digest has: fewer could be guessed sooner, more would not help. */
const TOKEN_BYTES = 32;

/** The owner alone reads it. */
const TOKEN_FILE_MODE = 0o600;

/** A secret that lets clients in, and what the server has to know to recognise it. */
export interface CapabilityToken {
  readonly token: string;
  /** SHA-256 of the token, as hex digits: what `--ws-token-sha256` takes. */
  readonly sha256: string;
}

export function createToken(): CapabilityToken {
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  return { token, sha256: createHash('sha256').update(token).digest('hex') };
}

/** Writes a token to a new file. One that is there is left alone: somebody may still need it. */
export function saveToken(token: string, file: string): void {
  try {
    writeFileSync(file, `${token}\n`, { flag: 'wx', mode: TOKEN_FILE_MODE });
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    throw code === 'EEXIST'
      ? new CommandError(`${file} is there already and is not overwritten`, {
          cause,
          hint: 'Name another file, or remove that one if nobody needs its token any more.',
        })
      : new CommandError(`cannot write the token: ${message}`, { cause });
  }
}
