import { isBuiltin } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findImports, listPackages, listSourceFiles, readManifest, type SourceFile } from './source-files.js';

/** protocol ← rpc ← server, client ← jobs ← cli; tests stand outside. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  protocol: [],
  rpc: ['protocol'],
  server: ['protocol', 'rpc'],
  client: ['protocol', 'rpc'],
  jobs: ['protocol', 'rpc', 'server', 'client'],
  cli: ['protocol', 'rpc', 'server', 'client', 'jobs'],
  testing: ['protocol', 'rpc', 'server', 'client', 'jobs', 'cli'],
};

/** Whatever starts processes or calls the system; one room of the server knows it. */
const NATIVE_MODULES = ['koffi', '@lydell/node-pty', 'child_process', 'node:child_process'];
const NATIVE_ROOM = 'packages/server/src/native/';
/** Clients and jobs start one thing: a server of their own. */
const SERVER_STARTERS = [
  'packages/client/src/node/spawned-server.ts',
  'packages/jobs/src/local-server/start-server.ts',
];
const DIALECTS = 'packages/server/src/dialects/';

interface Import {
  readonly file: SourceFile;
  readonly specifier: string;
}

const imports: readonly Import[] = listSourceFiles().flatMap((file) =>
  findImports(file.text).map((specifier) => ({ file, specifier })),
);

function show({ file, specifier }: Import): string {
  return `${file.path} imports ${specifier}`;
}

/** `@exec-server/rpc/node` → `rpc`, `exec-server` → `cli`, anything else → undefined. */
function importedPackage(specifier: string): string | undefined {
  if (specifier === 'exec-server') return 'cli';
  return /^@exec-server\/([^/]+)/.exec(specifier)?.[1];
}

/** `@scope/name/sub` → `@scope/name`. */
function moduleName(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

function resolvesInto(directory: string): (candidate: Import) => boolean {
  return ({ file, specifier }) =>
    specifier.startsWith('.') && join(dirname(file.path), specifier).startsWith(directory);
}

test('every package has its place', () => {
  expect(listPackages()).toEqual(Object.keys(MAY_IMPORT).sort());
});

test('packages import in one direction', () => {
  const against = imports.filter(({ file, specifier }) => {
    const imported = importedPackage(specifier);
    return (
      imported !== undefined &&
      imported !== file.packageName &&
      !MAY_IMPORT[file.packageName]?.includes(imported)
    );
  });
  expect(against.map(show)).toEqual([]);
});

test('relative imports stay in their package', () => {
  const outside = imports.filter(
    (candidate) =>
      candidate.specifier.startsWith('.') &&
      !resolvesInto(`packages/${candidate.file.packageName}/src/`)(candidate),
  );
  expect(outside.map(show)).toEqual([]);
});

test('packages declare what they import', () => {
  const undeclared = imports.filter(({ file, specifier }) => {
    if (specifier.startsWith('.') || isBuiltin(specifier)) return false;
    const { name, dependencies = {}, optionalDependencies = {} } = readManifest(file.packageName);
    const imported = moduleName(specifier);
    return imported !== name && !(imported in dependencies) && !(imported in optionalDependencies);
  });
  expect(undeclared.map(show)).toEqual([]);
});

test('only the native room starts processes and calls the system, but for a server of the client', () => {
  const elsewhere = imports.filter(
    ({ file, specifier }) =>
      NATIVE_MODULES.some((name) => specifier === name || specifier.startsWith(`${name}/`)) &&
      !file.path.startsWith(NATIVE_ROOM) &&
      !SERVER_STARTERS.includes(file.path) &&
      file.packageName !== 'testing',
  );
  expect(elsewhere.map(show)).toEqual([]);
});

test('dialects do not know the native room', () => {
  const knowing = imports.filter(
    (candidate) => candidate.file.path.startsWith(DIALECTS) && resolvesInto(NATIVE_ROOM)(candidate),
  );
  expect(knowing.map(show)).toEqual([]);
});

describe('findImports', () => {
  test.each([
    [`import { a } from 'a';`, ['a']],
    [`import type { a } from './a.js';\nimport 'b';`, ['./a.js', 'b']],
    [`import {\n  a,\n  type b,\n} from '@x/y/z';`, ['@x/y/z']],
    [`export * from './all.js';\nexport { a } from './a.js';`, ['./all.js', './a.js']],
    [`const m = await import('lazy');`, ['lazy']],
    [`import * as ns from 'ns';\nconst from = 'not this';`, ['ns']],
    [`export const quote = 'not this';\nexport function f() { return 'nor this'; }`, []],
  ])('%j', (text, expected) => {
    expect(findImports(text)).toEqual(expected);
  });
});
