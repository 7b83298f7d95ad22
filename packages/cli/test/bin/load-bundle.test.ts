import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { packFiles } from '../../../../scripts/pack-files.mjs';

const BIN = fileURLToPath(new URL('../../bin/', import.meta.url));
const PACKAGES = ['protocol', 'rpc', 'server', 'client', 'cli'];
const NEXT_CENTURY = new Date('2120-01-01');

interface Evaluator {
  compiled(): Map<string, Buffer>;
}
interface LoadBundle {
  readonly BundledModules: new (evaluator: Evaluator) => { load(name: string): unknown };
  readonly CachedScripts: new () => Evaluator;
  readonly Pack: new (file: string) => { names(): string[]; read(name: string): Buffer | undefined };
  readonly WRAPPER: readonly [before: string, after: string];
  readonly digestBuild: (name: string) => string | undefined;
}

let workspace: string;

beforeEach(() => {
  workspace = mkdtempSync(join(tmpdir(), 'bundle-'));
  cpSync(BIN, join(workspace, 'packages/cli/bin'), { recursive: true });
});

afterEach(() => rmSync(workspace, { recursive: true, force: true }));

const place = (path: string) => join(workspace, 'packages', path);

function write(path: string, text: string): void {
  mkdirSync(dirname(place(path)), { recursive: true });
  writeFileSync(place(path), text);
}

/** The copy of the workspace: it finds the bundle by its own place. */
function requireLoader(): LoadBundle {
  return createRequire(import.meta.url)(place('cli/bin/load-bundle.js')) as LoadBundle;
}

function writePack(path: string, files: Record<string, string | Buffer>, deflated: string[] = []): void {
  const contents = new Map(Object.entries(files).map(([name, content]) => [name, Buffer.from(content)]));
  packFiles(place(path), contents, new Set(deflated));
}

function writeBundle(modules: Record<string, string>, files: Record<string, string> = {}): void {
  const { WRAPPER } = requireLoader();
  const wrapped = Object.entries(modules).map(([name, text]) => [name, WRAPPER.join(text)]);
  writePack('cli/bundle/modules.pack', { ...Object.fromEntries(wrapped), ...files }, ['late.js', 'data.txt']);
  keepDigests();
}

/** What a build notes of the compiler's records as they are. */
function keepDigests(): void {
  const { digestBuild } = requireLoader();
  const digests = PACKAGES.map((name) => [name, digestBuild(name)]);
  write('cli/bundle/built-from.json', JSON.stringify(Object.fromEntries(digests)));
}

function writeRecords(): void {
  for (const name of PACKAGES) write(`${name}/dist/.tsbuildinfo`, `record of ${name}`);
}

const writeSmallBundle = () =>
  writeBundle({
    'main.js': `console.log('bundle', require('./part.js').name, require('node:path').sep);`,
    'part.js': `exports.name = 'part';`,
  });

function writeModules(): void {
  write('cli/package.json', '{ "type": "module" }');
  write('cli/dist/main.js', `console.log('modules');`);
}

function runCommand(): string {
  return execFileSync(process.execPath, [place('cli/bin/exec-server.js')], { encoding: 'utf8' }).trim();
}

describe('what the command runs', () => {
  test('an installed command runs its bundle', () => {
    writeSmallBundle();
    writeModules();
    expect(runCommand()).toBe('bundle part /');
  });

  test.each(PACKAGES)('a bundle of other code than the compiler wrote of %s is left alone', (name) => {
    writeRecords();
    writeSmallBundle();
    writeModules();
    expect(runCommand()).toBe('bundle part /');
    write(`${name}/dist/.tsbuildinfo`, 'another record');
    expect(runCommand()).toBe('modules');
    rmSync(place(`${name}/dist/.tsbuildinfo`));
    if (name !== 'cli') expect(runCommand()).toBe('modules');
  });

  test('a copy of a tree runs its bundle, whatever the times of its files are', () => {
    writeRecords();
    writeSmallBundle();
    writeModules();
    for (const name of PACKAGES) utimesSync(place(`${name}/dist/.tsbuildinfo`), NEXT_CENTURY, NEXT_CENTURY);
    expect(runCommand()).toBe('bundle part /');
  });

  test('records of packages that happen to stand beside an installed command are not its own', () => {
    writeSmallBundle();
    writeModules();
    write('server/dist/.tsbuildinfo', 'of another server');
    expect(runCommand()).toBe('bundle part /');
  });

  test('a command without a bundle runs its modules', () => {
    writeModules();
    expect(runCommand()).toBe('modules');
  });
});

describe('modules of the bundle', () => {
  test('are loaded, and files read, when the bundle is gone', () => {
    writeBundle(
      {
        'main.js': `
          require('node:fs').rmSync(__dirname, { recursive: true });
          console.log(require('./part.js').name, require('./late.js').name, String(require('./data.txt').bytes));`,
        'part.js': `exports.name = 'part';`,
        'late.js': `exports.name = 'late';`,
      },
      { 'data.txt': 'data' },
    );
    expect(runCommand()).toBe('part late data');
  });

  test('are evaluated once, also when they need each other', () => {
    writeBundle({
      'main.js': `require('./a.js'); console.log(require('./a.js').times, require('./b.js').seen);`,
      'a.js': `exports.times = (exports.times ?? 0) + 1; require('./b.js');`,
      'b.js': `exports.seen = require('./a.js').times;`,
    });
    expect(runCommand()).toBe('1 1');
  });

  test('that failed are tried again at their next use', () => {
    writeBundle({
      'main.js': `
        try { require('./part.js'); } catch (error) { globalThis.failed = error.message; }
        console.log(globalThis.failed, require('./part.js').name);`,
      'part.js': `if (!globalThis.failed) throw new Error('not yet'); exports.name = 'part';`,
    });
    expect(runCommand()).toBe('not yet part');
  });

  test('are named in stack traces', () => {
    writeBundle({
      'main.js': `console.log(require('./part.js').tell());`,
      'part.js': `exports.tell = () => new Error('here').stack.split('\\n')[1];`,
    });
    expect(runCommand()).toContain(`(${place('cli/bundle/part.js')}:1:`);
  });

  test('that are not there fail by their name', () => {
    writeBundle({ 'main.js': `try { require('./none.js') } catch (error) { console.log(error.message) }` });
    expect(runCommand()).toMatch(/^none\.js is not in .*modules\.pack$/);
  });
});

test('starts with compiled code, and with code that V8 does not take for its own', () => {
  writeSmallBundle();
  const { BundledModules, CachedScripts, Pack } = requireLoader();
  const scripts = new CachedScripts();
  expect(new BundledModules(scripts).load('part.js')).toEqual({ name: 'part' });
  const kept = scripts.compiled().get('part.js') ?? '';
  expect(kept.length).toBeGreaterThan(0);
  for (const code of [kept, 'damaged', '']) {
    writePack('cli/bundle/cache/compiled.pack', { 'part.js': code });
    expect(new Pack(place('cli/bundle/cache/compiled.pack')).read('part.js')).toEqual(Buffer.from(code));
    expect(runCommand()).toBe('bundle part /');
  }
  write('cli/bundle/cache/compiled.pack', 'no pack');
  expect(runCommand()).toBe('bundle part /');
});
