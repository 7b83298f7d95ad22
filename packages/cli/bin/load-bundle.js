'use strict';
const { readFileSync, statSync } = require('node:fs');
const Module = require('node:module');
const path = require('node:path');
const { Script } = require('node:vm');

const BUNDLE = path.join(__dirname, '../bundle');
/** Where compiled code is kept. Beside the code itself: who can write one can write the other. */
const CODE_CACHE = path.join(BUNDLE, 'cache');
/** What the bundle is made from, in a workspace. */
const PACKAGES = ['protocol', 'rpc', 'server', 'client', 'cli'];
const NEVER = Number.NEGATIVE_INFINITY;

/** Whether there is a bundle, and not of older code than the compiler wrote since. */
function isBundleCurrent() {
  const madeAt = modifiedAt(path.join(BUNDLE, 'main.js'));
  if (madeAt === NEVER) return false;
  return PACKAGES.every(
    (name) => modifiedAt(path.join(__dirname, '../..', name, 'dist/.tsbuildinfo')) <= madeAt,
  );
}

/** When a file was last written, in milliseconds. */
function modifiedAt(file) {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? NEVER;
}

/** Runs a file of the bundle and returns what it exports. */
function loadBundle(name) {
  if (typeof Module.enableCompileCache === 'function') {
    Module.enableCompileCache(CODE_CACHE);
    return require(path.join(BUNDLE, name));
  }
  return new CachedModules().load(path.join(BUNDLE, name));
}

/**
 * Loads CommonJS files with the code that the build compiled for this version of Node, where Node itself keeps none.
 * V8 refuses what another version or other flags compiled; then the file is compiled anew.
 */
class CachedModules {
  #modules = new Map();

  load(file) {
    const known = this.#modules.get(file);
    if (known !== undefined) return known.module.exports;
    // The bundler writes nothing but ASCII, which is read fastest by this name.
    const source = readFileSync(file, 'latin1');
    const script = new Script(Module.wrap(source), { filename: file, cachedData: readCode(file) });
    const module = { exports: {} };
    this.#modules.set(file, { module, script });
    const requireHere = Module.createRequire(file);
    const load = (name) => (name.startsWith('./') ? this.load(path.join(BUNDLE, name)) : requireHere(name));
    script.runInThisContext()(module.exports, load, module, file, BUNDLE);
    return module.exports;
  }

  /** What V8 compiled so far, and the file to keep it in. */
  *compiled() {
    for (const [file, { script }] of this.#modules) yield [codeFile(file), script.createCachedData()];
  }
}

function codeFile(file) {
  return path.join(CODE_CACHE, `${path.basename(file)}.v8`);
}

function readCode(file) {
  try {
    return readFileSync(codeFile(file));
  } catch {
    return undefined;
  }
}

module.exports = { BUNDLE, CachedModules, isBundleCurrent, loadBundle };
