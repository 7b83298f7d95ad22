// Runs the tests with the Codex CLI. Arguments are for the test runner.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { findCodex } from '../../scripts/fetch-codex.mjs';

const { status, error } = spawnSync(
  'npx',
  ['--no-install', 'vitest', 'run', 'test/codex', ...process.argv.slice(2)],
  {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    env: { ...process.env, CODEX_BIN: await findCodex() },
    stdio: 'inherit',
  },
);
if (error !== undefined) throw error;
process.exitCode = status ?? 1;
