// Puts each program that runs beside the server into one file: a sandbox need not contain the directories that the parts
// are in, and a thread must start after they were removed. Part of the build:
//   node scripts/bundle-programs.mjs
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const ROOT = new URL('../', import.meta.url);
/** Where the server's own sources and what is built of them are. */
const SOURCES = new URL('packages/server/src/', ROOT);
const BUILT = new URL('packages/server/dist/', ROOT);

/** Each program by the file that it becomes. */
export const PROGRAMS = {
  /** Does file operations inside of sandboxes. */
  'sandbox/files/file-helper.cjs': 'dialects/exec/confined/file-helper.ts',
  /** Renders the screens of terminals. */
  'snapshot/screen-worker.cjs': 'snapshot/screen-worker.ts',
};

/** Also what the test runner calls, so that tests on the sources have the programs of these sources. */
export default async function bundlePrograms() {
  await Promise.all(
    Object.entries(PROGRAMS).map(([file, entry]) =>
      bundleProgram(fileURLToPath(new URL(entry, SOURCES)), fileURLToPath(new URL(file, BUILT))),
    ),
  );
}

async function bundleProgram(entry, path) {
  const { outputFiles, warnings } = await build({
    entryPoints: [entry],
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
  await mkdir(dirname(path), { recursive: true });
  // Whoever reads it meanwhile gets the one before.
  const draft = `${path}.${process.pid}`;
  await writeFile(draft, outputFiles[0].contents);
  await rename(draft, path);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await bundlePrograms();
