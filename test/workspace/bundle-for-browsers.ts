import { join } from 'node:path';
import { build, type Metafile } from 'esbuild';
import { ROOT } from './source-files.js';

/** The source of a package's root entry, as browsers get it. */
export function rootEntry(packageName: string): string {
  return join(ROOT, 'packages', packageName, 'src/index.ts');
}

/** Bundles an entry, given by its source, into a script that sets the global `bundled`. */
export async function bundleForBrowsers(entry: string): Promise<{ code: string; metafile: Metafile }> {
  const { outputFiles, metafile } = await build({
    entryPoints: [entry],
    alias: { '@exec-server/protocol': rootEntry('protocol'), '@exec-server/rpc': rootEntry('rpc') },
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
