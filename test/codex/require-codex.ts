import { type SkippableTest, skipFor } from '@exec-server/testing';

/** Path of the Codex command, or empty. */
export const CODEX_BIN = process.env.CODEX_BIN ?? '';

/** Skips a test where nobody has named the Codex command, also under CI: it is no part of this repository's tests. */
export function requireCodex(test: SkippableTest): void {
  if (CODEX_BIN === '') skipFor(test, 'CODEX_BIN, which `npm run test:codex` sets');
}
