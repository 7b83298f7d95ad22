// Runs the bundled command with the arguments given, and when it ends keeps the code that V8 compiled for it.
import { createRequire } from 'node:module';
import { packFiles } from './pack-files.mjs';

const { BundledModules, CachedScripts, COMPILED } = createRequire(import.meta.url)(
  '../packages/cli/bin/load-bundle.js',
);

const scripts = new CachedScripts();
process.once('exit', () => packFiles(COMPILED, scripts.compiled()));
new BundledModules(scripts).load('main.js');
