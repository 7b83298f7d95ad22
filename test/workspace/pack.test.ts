import { execFile } from 'node:child_process';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listPackages, ROOT, readManifest } from './source-files.js';

const run = promisify(execFile);

/** npm takes its time on a machine with other things to do, in milliseconds. */
const NPM_TIMEOUT_MS = 180_000;

const published = listPackages().filter((name) => readManifest(name).private !== true);

/** As they come out of the registry. Built before the tests; the script that builds would do it under their feet. */
const PACK = ['pack', '--json', '--ignore-scripts'];
const INSTALL = [
  'install',
  '--prefer-offline',
  '--ignore-scripts',
  '--no-audit',
  '--no-fund',
  '--no-package-lock',
];

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'pack-'));
  const workspaces = published.flatMap((name) => ['--workspace', `packages/${name}`]);
  const { stdout } = await run('npm', [...PACK, '--pack-destination', directory, ...workspaces], {
    cwd: ROOT,
  });
  const packed = JSON.parse(stdout) as { filename: string }[];
  const tarballs = packed.map(({ filename }) => join(directory, filename));
  await writeFile(join(directory, 'package.json'), '{ "type": "module", "private": true }');
  await run('npm', [...INSTALL, ...tarballs], { cwd: directory });
}, NPM_TIMEOUT_MS);

afterAll(() => rm(directory, { recursive: true, force: true }));

/** Runs a module in the directory where the packages are installed. */
async function runModule(code: string): Promise<unknown> {
  const path = join(directory, 'program.js');
  await writeFile(path, code);
  const { stdout } = await run(process.execPath, [path], { cwd: directory });
  return JSON.parse(stdout);
}

describe.each(published)('%s', (name) => {
  test('can be imported as its manifest says', async () => {
    const pkgDir = join(directory, 'node_modules', readManifest(name).name);
    const { messages, pkg } = await publint({ pkgDir, pack: false, strict: true });
    expect(messages.map((message) => formatMessage(message, pkg))).toEqual([]);
  });

  test('installs what it exports', async () => {
    const { name: packageName, exports = {} } = readManifest(name);
    const specifiers = Object.keys(exports).map((path) => path.replace('.', packageName));
    const names = await runModule(
      `const modules = await Promise.all(${JSON.stringify(specifiers)}.map((name) => import(name)));
       console.log(JSON.stringify(modules.map((module) => Object.keys(module).length > 0)));`,
    );
    expect(names).toEqual(specifiers.map(() => true));
  });
});

test('a program with the packages runs commands, in this process and over the installed command', async () => {
  const told = await runModule(
    `import { connect } from '@exec-server/client';
     import { createExecServer } from '@exec-server/server';
     const server = createExecServer();
     const lines = [];
     for (const target of [server, { command: ['node_modules/.bin/exec-server', '--listen', 'stdio'] }]) {
       const machine = await connect(target);
       lines.push((await machine.run(['/bin/echo', 'hello'])).stdout.text());
       await machine.close();
     }
     await server.close();
     console.log(JSON.stringify(lines));`,
  );
  expect(told).toEqual(['hello\n', 'hello\n']);
});

test('the programs of the sandbox come along, and can be executed', async () => {
  const sandbox = join(directory, 'node_modules/@exec-server/server/sandbox');
  for (const name of ['sandbox-x64', 'sandbox-arm64'])
    expect((await stat(join(sandbox, name))).mode & 0o777).toBe(0o755);
});

test.each(['nodenext', 'bundler'])('types are found by %s', async (resolution) => {
  const path = join(directory, `${resolution}.ts`);
  await writeFile(
    path,
    `import { connect, type Machine } from '@exec-server/client';
     const machine: Machine = await connect({ command: ['exec-server', '--listen', 'stdio'] });
     export const stdout: string = (await machine.run(['/bin/echo'])).stdout.text();
     // @ts-expect-error A string is for the shell.
     await machine.run('echo');
    `,
  );
  const module = resolution === 'bundler' ? 'esnext' : resolution;
  const flags = [
    '--noEmit',
    '--strict',
    '--skipLibCheck',
    '--target',
    'es2022',
    '--lib',
    'es2023,esnext.disposable,dom',
  ];
  const tsc = join(ROOT, 'node_modules/.bin/tsc');
  await run(tsc, [...flags, '--module', module, '--moduleResolution', resolution, path], { cwd: directory });
});
