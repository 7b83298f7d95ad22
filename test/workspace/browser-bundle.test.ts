import { join } from 'node:path';
import { createContext, runInContext } from 'node:vm';
import { build, type Metafile } from 'esbuild';
import { expect, test } from 'vitest';
import { ROOT } from './source-files.js';

const source = (packageName: string) => join(ROOT, 'packages', packageName, 'src/index.ts');

async function bundle(packageName: string): Promise<{ code: string; metafile: Metafile }> {
  const { outputFiles, metafile } = await build({
    entryPoints: [source(packageName)],
    alias: { '@exec-server/protocol': source('protocol'), '@exec-server/rpc': source('rpc') },
    bundle: true,
    // With this platform an import of a Node built-in is an error.
    platform: 'browser',
    format: 'iife',
    globalName: 'bundled',
    target: 'es2022',
    write: false,
    metafile: true,
    logLevel: 'silent',
  });
  return { code: outputFiles[0]?.text ?? '', metafile };
}

/** What pages and workers of a browser have; nothing of Node is among it. */
const BROWSER_GLOBALS = [
  'AbortController',
  'AbortSignal',
  'atob',
  'btoa',
  'clearTimeout',
  'crypto',
  'Event',
  'EventTarget',
  'performance',
  'queueMicrotask',
  'setTimeout',
  'structuredClone',
  'TextDecoder',
  'TextEncoder',
  'URL',
] as const;

function browserGlobals(): Record<string, unknown> {
  const shared = Object.fromEntries(
    BROWSER_GLOBALS.map((name): [string, unknown] => [name, globalThis[name]]),
  );
  return { ...shared, WebSocket: class {} };
}

test.each(['protocol', 'rpc', 'client'])('the root entry of %s works in a browser', async (packageName) => {
  const { code, metafile } = await bundle(packageName);
  // The package has a stub for browsers that throws when it is used.
  expect(Object.keys(metafile.inputs).filter((path) => path.includes('node_modules/ws/'))).toEqual([]);
  const context = createContext(browserGlobals());
  runInContext(code, context);
  const names = Object.keys(runInContext('bundled', context) as object);
  expect(names).toEqual(Object.keys((await import(source(packageName))) as object).toSorted());
});

test('both entries of the client export the same names', async () => {
  const names = async (entry: string) => Object.keys((await import(entry)) as object).toSorted();
  expect(await names(source('client'))).toEqual(await names(join(ROOT, 'packages/client/src/node/index.ts')));
});
