// Runs the tests with the Codex CLI. Unless CODEX_BIN names one it is fetched, once, into a cache outside the tree.
// Arguments are for the test runner.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PACKAGE = '@openai/codex';
const VERSION = '0.166.0';

const codexBin = process.env.CODEX_BIN || (await fetchOnce());
process.exitCode = run(
  'npx',
  ['--no-install', 'vitest', 'run', 'test/codex', ...process.argv.slice(2)],
  fileURLToPath(new URL('../..', import.meta.url)),
  { CODEX_BIN: codexBin },
);

async function fetchOnce() {
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'exec-server', 'codex');
  const home = join(cache, VERSION);
  if (!existsSync(home)) await fetchInto(home);
  return join(home, 'node_modules', '.bin', 'codex');
}

async function fetchInto(home) {
  await mkdir(dirname(home), { recursive: true });
  // Whole or not at all: an interrupted download leaves nothing that looks like one.
  const beside = await mkdtemp(`${home}-`);
  try {
    const args = ['install', '--prefix', beside, '--no-save', '--no-audit', '--no-fund'];
    const code = run('npm', [...args, `${PACKAGE}@${VERSION}`], beside);
    if (code !== 0) throw new Error(`npm could not fetch ${PACKAGE}@${VERSION} (code ${code})`);
    await rename(beside, home);
  } finally {
    await rm(beside, { recursive: true, force: true });
  }
}

function run(program, args, cwd, env = {}) {
  const { status, error } = spawnSync(program, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: 'inherit',
  });
  if (error !== undefined) throw error;
  return status ?? 1;
}
