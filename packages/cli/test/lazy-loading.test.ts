import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SpawnedCommand } from '@exec-server/testing';
import { expect, it, onTestFinished } from 'vitest';
import { listen } from './command-support.js';

const MAIN = join(import.meta.dirname, '../dist/main.js');

/** The packages of this repository that a command loads anything of. */
async function packagesLoadedBy(args: readonly string[]): Promise<string[]> {
  const directory = mkdtempSync(join(tmpdir(), 'exec-server-coverage-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  // Coverage names every module that was loaded. The bundle is cut where these are loaded, but has other names.
  const command = new SpawnedCommand({
    command: [process.execPath, MAIN],
    args,
    env: { ...process.env, NODE_V8_COVERAGE: directory },
  });
  command.stdin.end();
  command.stdout.resume();
  await command.exited;
  const loaded = readdirSync(directory).map((name) => readFileSync(join(directory, name), 'utf8'));
  const names = ['client', 'protocol', 'rpc', 'server'];
  return names.filter((name) => loaded.some((text) => text.includes(`/packages/${name}/dist/`)));
}

it('a server loads nothing of the client', async () => {
  expect(await packagesLoadedBy(['serve', '--listen', 'stdio'])).toEqual(['protocol', 'rpc', 'server']);
});

it('a client of a server elsewhere loads nothing of the server', async () => {
  const url = await listen();
  expect(await packagesLoadedBy(['run', '--connect', url, 'true'])).toEqual(['client', 'protocol', 'rpc']);
});

it('help and version load neither', async () => {
  expect(await packagesLoadedBy(['run', '--help'])).toEqual([]);
  expect(await packagesLoadedBy(['--version'])).toEqual([]);
});
