import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';

const BIN = fileURLToPath(new URL('../../bin/', import.meta.url));
const EARLIER = new Date('2020-01-01');
const LATER = new Date('2020-01-02');

interface LoadBundle {
  readonly CachedModules: new () => {
    load(file: string): unknown;
    compiled(): Iterable<[file: string, code: Buffer]>;
  };
}

let workspace: string;

beforeEach(() => {
  workspace = mkdtempSync(join(tmpdir(), 'bundle-'));
  cpSync(BIN, join(workspace, 'packages/cli/bin'), { recursive: true });
});

afterEach(() => rmSync(workspace, { recursive: true, force: true }));

function write(path: string, text: string | Buffer, modified = EARLIER): void {
  const file = join(workspace, 'packages', path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  utimesSync(file, modified, modified);
}

function writeBundle(): void {
  write('cli/bundle/package.json', '{ "type": "commonjs" }');
  write('cli/bundle/main.js', `console.log('bundle', require('./part.js').name, require('node:path').sep);`);
  write('cli/bundle/part.js', `exports.name = 'part';`);
}

function writeModules(): void {
  write('cli/package.json', '{ "type": "module" }');
  write('cli/dist/main.js', `console.log('modules');`);
}

function runCommand(): string {
  return execFileSync(process.execPath, [join(workspace, 'packages/cli/bin/exec-server.js')], {
    encoding: 'utf8',
  }).trim();
}

test('an installed command runs its bundle', () => {
  writeBundle();
  writeModules();
  expect(runCommand()).toBe('bundle part /');
});

test.each(['protocol', 'rpc', 'server', 'client', 'cli'])(
  'a bundle that is older than the modules of %s is left alone',
  (name) => {
    writeBundle();
    writeModules();
    write(`${name}/dist/.tsbuildinfo`, '', EARLIER);
    expect(runCommand()).toBe('bundle part /');
    write(`${name}/dist/.tsbuildinfo`, '', LATER);
    expect(runCommand()).toBe('modules');
  },
);

test('a command without a bundle runs its modules', () => {
  writeModules();
  expect(runCommand()).toBe('modules');
});

test('starts with compiled code, and with code that V8 does not take for its own', () => {
  writeBundle();
  const file = join(workspace, 'packages/cli/bin/load-bundle.js');
  const { CachedModules } = createRequire(import.meta.url)(file) as LoadBundle;
  const modules = new CachedModules();
  expect(modules.load(join(workspace, 'packages/cli/bundle/part.js'))).toEqual({ name: 'part' });
  const [kept] = modules.compiled();
  expect(kept?.[0]).toBe(join(workspace, 'packages/cli/bundle/cache/part.js.v8'));
  for (const code of [kept?.[1] ?? '', 'damaged', '']) {
    write('cli/bundle/cache/part.js.v8', code);
    expect(runCommand()).toBe('bundle part /');
  }
});
