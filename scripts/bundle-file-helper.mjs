// Puts the program that does file operations inside of sandboxes into one file, because a sandbox need not contain the
// directories that its parts are in. Part of the build:
//   node scripts/bundle-file-helper.mjs
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const ROOT = new URL('../', import.meta.url);
const ENTRY = new URL('packages/server/src/dialects/exec/confined/file-helper.ts', ROOT);
const BUNDLE = new URL('packages/server/dist/sandbox/files/file-helper.cjs', ROOT);

/** Also what the test runner calls, so that tests on the sources have the helper of these sources. */
export default async function bundleFileHelper() {
  const { outputFiles, warnings } = await build({
    entryPoints: [fileURLToPath(ENTRY)],
    bundle: true,
    write: false,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    minifyWhitespace: true,
    minifySyntax: true,
    // The sources of this workspace, not what was built of them some time ago.
    alias: {
      '@exec-server/protocol': fileURLToPath(new URL('packages/protocol/src/index.ts', ROOT)),
      '@exec-server/rpc/node': fileURLToPath(new URL('packages/rpc/src/node/index.ts', ROOT)),
      '@exec-server/rpc': fileURLToPath(new URL('packages/rpc/src/index.ts', ROOT)),
    },
  });
  // Such as for a part of the server that has no business in there.
  if (warnings.length > 0) throw new Error(warnings.map(({ text }) => text).join('\n'));
  const path = fileURLToPath(BUNDLE);
  await mkdir(dirname(path), { recursive: true });
  // Whoever reads it meanwhile gets the one before.
  const draft = `${path}.${process.pid}`;
  await writeFile(draft, outputFiles[0].contents);
  await rename(draft, path);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await bundleFileHelper();
