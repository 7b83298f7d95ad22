// Runs all tests on each version of Node that is supported, with the build that is there:
//   npm run test:versions [-- MAJOR...]      `newest` is the newest of them
import { spawnSync } from 'node:child_process';
import { chmod, copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fetchPackage } from './fetch-package.mjs';

/** The newest of each line when they were last tried, in order. */
const VERSIONS = new Map([
  ['20', '20.20.2'],
  ['22', '22.23.3'],
  ['24', '24.21.0'],
  ['26', '26.9.0'],
]);
const MAJORS = [...VERSIONS.keys()];
const ROOT = fileURLToPath(new URL('../', import.meta.url));
const VITEST = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs');
const READABLE = 0o755;

const asked = process.argv.slice(2).map((major) => (major === 'newest' ? MAJORS.at(-1) : major));
const majors = asked.length === 0 ? MAJORS : asked;
for (const major of majors) {
  if (!VERSIONS.has(major)) throw new Error(`Node ${major} is none of ${MAJORS.join(', ')}`);
}
const failed = [];
for (const major of majors) {
  const { node, release } = await findNode(major);
  console.log(`\nNode ${major}: ${node}`);
  const { status } = spawnSync(node, [VITEST, 'run'], { cwd: ROOT, stdio: 'inherit' });
  await release();
  if (status !== 0) failed.push(major);
}
if (failed.length > 0) {
  console.error(`\nfailed on Node ${failed.join(', ')}`);
  process.exitCode = 1;
} else {
  console.log(`\npassed on Node ${majors.join(', ')}`);
}

/** The running one where it is of that line, else one from the cache. */
async function findNode(major) {
  if (process.versions.node.startsWith(`${major}.`))
    return { node: process.execPath, release: async () => {} };
  if (process.platform !== 'linux')
    throw new Error(`run this with Node ${major}: only those for Linux are fetched`);
  const name = `node-${process.platform}-${process.arch}`;
  const home = await fetchPackage('node', name, VERSIONS.get(major));
  return copyForAll(join(home, 'node_modules', name, 'bin', 'node'));
}

/** Root's tests start servers as another user, too, who cannot look into root's cache. */
async function copyForAll(cached) {
  const directory = await mkdtemp(join(tmpdir(), 'exec-server-node-'));
  const node = join(directory, 'node');
  await chmod(directory, READABLE);
  await copyFile(cached, node);
  await chmod(node, READABLE);
  return { node, release: () => rm(directory, { recursive: true }) };
}
