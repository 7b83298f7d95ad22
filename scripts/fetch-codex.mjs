// The reference, fetched once into a cache outside the tree.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

const PACKAGE = '@openai/codex';
export const CODEX_VERSION = '0.166.0';

/** Path of the Codex command: what CODEX_BIN names, else the one in the cache. */
export async function findCodex() {
  return process.env.CODEX_BIN || (await fetchOnce());
}

async function fetchOnce() {
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'exec-server', 'codex');
  const home = join(cache, CODEX_VERSION);
  if (!existsSync(home)) await fetchInto(home);
  return join(home, 'node_modules', '.bin', 'codex');
}

async function fetchInto(home) {
  await mkdir(dirname(home), { recursive: true });
  // Whole or not at all: an interrupted download leaves nothing that looks like one.
  const beside = await mkdtemp(`${home}-`);
  try {
    const args = ['install', '--prefix', beside, '--no-save', '--no-audit', '--no-fund'];
    const { status, error } = spawnSync('npm', [...args, `${PACKAGE}@${CODEX_VERSION}`], {
      cwd: beside,
      stdio: 'inherit',
    });
    if (error !== undefined) throw error;
    if (status !== 0) throw new Error(`npm could not fetch ${PACKAGE}@${CODEX_VERSION} (code ${status})`);
    await rename(beside, home);
  } finally {
    await rm(beside, { recursive: true, force: true });
  }
}
