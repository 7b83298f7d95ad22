// Uses one server in all ways at once, with random cuts, for a given time:
//   npm run soak -- --minutes 30 [--seed N]
// Fails on a byte that is lost without being told, or doubled, on anything that stays, and on memory that grows.

import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const DEFAULT_MINUTES = '10';
const SEED_LIMIT = 2 ** 31;
const SECONDS_PER_MINUTE = 60;

const { values } = parseArgs({ options: { minutes: { type: 'string' }, seed: { type: 'string' } } });
const minutes = Number(values.minutes ?? DEFAULT_MINUTES);
const seed = Number(values.seed ?? randomInt(SEED_LIMIT));
if (!(minutes > 0) || !Number.isInteger(seed)) {
  console.error('--minutes takes a positive number, --seed a whole one');
  process.exit(2);
}
const vitest = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url));
const { status } = spawnSync(process.execPath, [vitest, 'run', 'test/soak'], {
  cwd: fileURLToPath(new URL('..', import.meta.url)),
  stdio: 'inherit',
  env: { ...process.env, SOAK_SECONDS: String(minutes * SECONDS_PER_MINUTE), SOAK_SEED: String(seed) },
});
if (status !== 0) console.log(`again with: npm run soak -- --minutes ${minutes} --seed ${seed}`);
process.exitCode = status ?? 1;
