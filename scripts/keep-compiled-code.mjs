// Runs the bundled command with the arguments given, and when it has ended keeps the code that V8 compiled for it.
import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const { BUNDLE, CachedModules } = createRequire(import.meta.url)('../packages/cli/bin/load-bundle.js');

const modules = new CachedModules();
const { createProcessIo, runCommandLine } = modules.load(join(BUNDLE, 'index.js'));
const io = createProcessIo();
process.exitCode = await runCommandLine(process.argv.slice(2), io);
for (const [file, code] of modules.compiled()) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, code);
}
