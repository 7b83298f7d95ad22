import { join } from 'node:path';
import { createContext, runInContext } from 'node:vm';
import { expect, test } from 'vitest';
import { bundleForBrowsers, rootEntry } from './bundle-for-browsers.js';
import { ROOT } from './source-files.js';

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

const ENTRIES = {
  protocol: rootEntry('protocol'),
  rpc: rootEntry('rpc'),
  client: rootEntry('client'),
  'client/unified-exec': join(ROOT, 'packages/client/src/unified-exec/index.ts'),
};

test.each(Object.entries(ENTRIES))('the entry %s works in a browser', async (_, entry) => {
  const { code, metafile } = await bundleForBrowsers(entry);
  // The package has a stub for browsers that throws when it is used.
  expect(Object.keys(metafile.inputs).filter((path) => path.includes('node_modules/ws/'))).toEqual([]);
  const context = createContext(browserGlobals());
  runInContext(code, context);
  const names = Object.keys(runInContext('bundled', context) as object);
  expect(names).toEqual(Object.keys((await import(entry)) as object).toSorted());
});

test('both entries of the client export the same names, but for the file of contexts', async () => {
  const names = async (entry: string) => Object.keys((await import(entry)) as object).toSorted();
  const inNode = new Set(await names(join(ROOT, 'packages/client/src/node/index.ts')));
  for (const name of await names(join(ROOT, 'packages/client/src/node/contexts.ts'))) inNode.delete(name);
  expect(await names(rootEntry('client'))).toEqual([...inNode]);
});
