import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { arch } from 'node:process';
import { expect, it, onTestFinished } from 'vitest';
import { KOFFI_VERSION, loadKoffi } from '../../src/native/load-koffi.js';

const MANIFEST = new URL('../../package.json', import.meta.url);
const KOFFI = dirname(createRequire(MANIFEST).resolve('koffi'));
const ADDON = `@koromix/koffi-linux-${arch}/linux_${arch}/koffi.node`;

/** Where koffi is installed without its addon beside it; with `addon` there is something of that name. */
function makeInstallation(addon?: string): NodeRequire {
  const directory = mkdtempSync(join(tmpdir(), 'load-koffi-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const modules = join(directory, 'node_modules');
  mkdirSync(dirname(join(modules, ADDON)), { recursive: true });
  symlinkSync(KOFFI, join(modules, 'koffi'));
  if (addon !== undefined) writeFileSync(join(modules, ADDON), addon);
  return createRequire(join(directory, 'index.js'));
}

it('expects the version that is pinned', () => {
  const { dependencies } = JSON.parse(readFileSync(MANIFEST, 'utf8')) as {
    dependencies: Record<string, string>;
  };
  expect(KOFFI_VERSION).toBe(dependencies.koffi);
});

it.each([
  ['where its addon is installed', () => createRequire(MANIFEST)],
  ['where it is not', () => makeInstallation()],
  ['where something else is in its place', () => makeInstallation('no addon')],
])('calls C functions %s', (_, createLoad) => {
  const koffi = loadKoffi(createLoad());
  expect(koffi.version).toBe(KOFFI_VERSION);
  expect(koffi.load(null).func('int getpid()')()).toBe(process.pid);
});

it('fails where there is no koffi', () => {
  expect(() => loadKoffi(createRequire(join(tmpdir(), 'index.js')))).toThrow(/Cannot find module 'koffi'/);
});
