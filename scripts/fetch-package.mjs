// A package of the registry, fetched once into a cache outside the tree.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

/** The directory that the package is installed in; `name` is its place in the cache. */
export async function fetchPackage(name, packageName, version) {
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'exec-server', name);
  const home = join(cache, version);
  if (!existsSync(home)) await fetchInto(home, `${packageName}@${version}`);
  return home;
}

async function fetchInto(home, specifier) {
  await mkdir(dirname(home), { recursive: true });
  // Whole or not at all: an interrupted download leaves nothing that looks like one.
  const beside = await mkdtemp(`${home}-`);
  try {
    const args = ['install', '--prefix', beside, '--no-save', '--no-audit', '--no-fund', '--ignore-scripts'];
    const { status, error } = spawnSync('npm', [...args, specifier], { cwd: beside, stdio: 'inherit' });
    if (error !== undefined) throw error;
    if (status !== 0) throw new Error(`npm could not fetch ${specifier} (code ${status})`);
    await rename(beside, home);
  } finally {
    await rm(beside, { recursive: true, force: true });
  }
}
