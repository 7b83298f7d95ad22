// Tries the properties of test/fuzz and test/model for a given time with a new seed:
//   npm run fuzz -- --seconds 600 [--seed N] [test/fuzz/envelope ...]

import { execFileSync, spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const DEFAULT_SECONDS = 300;
const DEFAULT_PLACES = ['test/fuzz', 'test/model'];
/** Seeds are 32-bit numbers; some properties use those behind theirs, too. */
const SEED_LIMIT = 2 ** 31 - 1024;

const root = fileURLToPath(new URL('..', import.meta.url));
const vitest = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url));

const { values, positionals } = parseArgs({
  options: { seconds: { type: 'string' }, seed: { type: 'string' } },
  allowPositionals: true,
});
const seconds = readNumber('seconds', values.seconds ?? String(DEFAULT_SECONDS), 1);
const seed = readNumber('seed', values.seed ?? String(randomInt(SEED_LIMIT)), 0);
const places = positionals.length > 0 ? positionals : DEFAULT_PLACES;

const listed = execFileSync(process.execPath, [vitest, 'list', ...places, '--json'], {
  cwd: root,
  encoding: 'utf8',
  stdio: ['ignore', 'pipe', 'inherit'],
});
// Tests that are named with a seed are properties; the others take no time worth counting.
const properties = JSON.parse(listed).filter(({ name }) => name.includes('(seed ')).length;
if (properties === 0) fail(`no properties in ${places.join(', ')}`);
const propertyMs = Math.ceil((seconds * 1000) / properties);
console.log(`${properties} properties, ${propertyMs} ms each, seed ${seed}`);

const { status } = spawnSync(process.execPath, [vitest, 'run', '--no-file-parallelism', ...places], {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, FUZZ_SEED: String(seed), FUZZ_PROPERTY_MS: String(propertyMs) },
});
if (status !== 0) console.log(`again with: npm run fuzz -- --seconds ${seconds} --seed ${seed}`);
process.exitCode = status ?? 1;

function readNumber(name, text, minimum) {
  const number = Number(text);
  if (!Number.isInteger(number) || number < minimum)
    fail(`--${name} takes a whole number from ${minimum} on`);
  return number;
}

function fail(message) {
  console.error(message);
  process.exit(2);
}
