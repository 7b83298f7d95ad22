// Runs the tests that need no build on each version of Node that is supported:
//   npm run test:versions [-- MAJOR...]
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fetchPackage } from './fetch-package.mjs';

/** The newest of each line when they were last tried. */
const VERSIONS = new Map([
  ['20', '20.20.2'],
  ['22', '22.23.3'],
  ['24', '24.21.0'],
]);
/** Packages whose tests run on the sources. */
const TESTS = ['protocol', 'rpc', 'testing', 'server', 'client'].map((name) => `packages/${name}/`);
const ROOT = fileURLToPath(new URL('../', import.meta.url));
const VITEST = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs');

const asked = process.argv.slice(2);
const majors = asked.length === 0 ? [...VERSIONS.keys()] : asked;
for (const major of majors) {
  if (!VERSIONS.has(major)) throw new Error(`Node ${major} is none of ${[...VERSIONS.keys()].join(', ')}`);
}
const failed = [];
for (const major of majors) {
  const node = await findNode(major);
  console.log(`\nNode ${major}: ${node}`);
  const { status } = spawnSync(node, [VITEST, 'run', ...TESTS], { cwd: ROOT, stdio: 'inherit' });
  if (status !== 0) failed.push(major);
}
if (failed.length > 0) {
  console.error(`\nfailed on Node ${failed.join(', ')}`);
  process.exitCode = 1;
}

/** The running one where it is of that line, else one from the cache. */
async function findNode(major) {
  if (process.versions.node.startsWith(`${major}.`)) return process.execPath;
  if (process.platform !== 'linux')
    throw new Error(`run this with Node ${major}: only those for Linux are fetched`);
  const name = `node-${process.platform}-${process.arch}`;
  const home = await fetchPackage('node', name, VERSIONS.get(major));
  return join(home, 'node_modules', name, 'bin', 'node');
}
