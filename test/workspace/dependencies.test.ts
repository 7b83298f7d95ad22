import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { listPackages, type Manifest, ROOT, readManifest } from './source-files.js';

/** A row of a table in docs/dependencies.md: name, exact version, reason. */
const ROW = /^\| `([^`]+)` +\| (\S+) +\| (.+) \|$/gm;

const OWN = /^(@exec-server\/|exec-server$)/;

function listDependencies({
  dependencies,
  devDependencies,
  optionalDependencies,
}: Manifest): [string, string][] {
  return Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies });
}

const manifests = [readManifest(), ...listPackages().map((name) => readManifest(name))];
const declared = manifests.flatMap(listDependencies).filter(([name]) => !OWN.test(name));
const documented = [...readFileSync(join(ROOT, 'docs/dependencies.md'), 'utf8').matchAll(ROW)].map(
  ([, name = '', version = '']): [string, string] => [name, version],
);

const sorted = (pairs: readonly [string, string][]) =>
  [...new Set(pairs.map(([name, version]) => `${name} ${version}`))].sort();

test('docs/dependencies.md lists what is declared, with its version, and nothing else', () => {
  expect(sorted(documented)).toEqual(sorted(declared));
  expect(documented).toHaveLength(new Set(documented.map(([name]) => name)).size);
});

test('versions are exact', () => {
  expect(declared.filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
});
