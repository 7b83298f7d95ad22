// The reference, fetched once into a cache outside the tree.
import { join } from 'node:path';
import { fetchPackage } from './fetch-package.mjs';

const PACKAGE = '@openai/codex';
export const CODEX_VERSION = '0.166.0';

/** Path of the Codex command: what CODEX_BIN names, else the one in the cache. */
export async function findCodex() {
  if (process.env.CODEX_BIN) return process.env.CODEX_BIN;
  return join(await fetchPackage('codex', PACKAGE, CODEX_VERSION), 'node_modules', '.bin', 'codex');
}
