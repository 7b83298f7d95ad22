'use strict';
const { createHash } = require('node:crypto');
const { readFileSync } = require('node:fs');
const Module = require('node:module');
const path = require('node:path');
const { Script } = require('node:vm');

const BUNDLE = path.join(__dirname, '../bundle');
/** The modules of the command, and the files that they read, in one. */
const MODULES = path.join(BUNDLE, 'modules.pack');
/** Where compiled code is kept. Beside the code itself: who can write one can write the other. */
const CODE_CACHE = path.join(BUNDLE, 'cache');
/** The code that the build compiled of them, by the names of the modules. */
const COMPILED = path.join(CODE_CACHE, 'compiled.pack');
/** What stands around a module's text in its pack, so that nobody has to copy the text to put it there. */
const WRAPPER = ['(function(exports,require,module,__filename,__dirname){', '\n})'];
/** Digests of what the compiler had written when the bundle was made, by package. */
const BUILT_FROM = path.join(BUNDLE, 'built-from.json');
/** The packages that the bundle is made from, in a workspace. */
const PACKAGES = ['protocol', 'rpc', 'server', 'client', 'jobs', 'cli'];

/** Whether there is a bundle, and it was made from the code that the compiler wrote last. */
function isBundleCurrent() {
  const builtFrom = readIfPresent(BUILT_FROM);
  if (builtFrom === undefined) return false;
  // An installed command has no record of its own, and what stands beside it are packages of others.
  if (digestBuild('cli') === undefined) return true;
  const digests = JSON.parse(builtFrom.toString());
  return PACKAGES.every((name) => digestBuild(name) === digests[name]);
}

/**
 * SHA-256 digest of the compiler's record of a package, which changes with any of its sources. Packages are
 * published without it. Modification times would not do: a copy of a tree has new ones, in any order.
 */
function digestBuild(name) {
  const record = readIfPresent(path.join(__dirname, '../..', name, 'dist/.tsbuildinfo'));
  return record && createHash('sha256').update(record).digest('hex');
}

function readIfPresent(file) {
  try {
    return readFileSync(file);
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
    throw error;
  }
}

/** Runs a module of the bundle and returns what it exports. */
function loadBundle(name) {
  return new BundledModules(chooseEvaluator()).load(name);
}

function chooseEvaluator() {
  if (typeof Module.enableCompileCache !== 'function') return new CachedScripts();
  Module.enableCompileCache(CODE_CACHE);
  return { evaluate: evaluateAsNodeDoes };
}

/** Many files in one, as `packFiles` of the build writes them: where each lies, in a line of JSON, and then their bytes. */
class Pack {
  #places;
  #bytes;

  constructor(file) {
    const bytes = readFileSync(file);
    const bodyAt = bytes.indexOf('\n') + 1;
    this.#places = JSON.parse(bytes.latin1Slice(0, bodyAt));
    this.#bytes = bytes.subarray(bodyAt);
  }

  names() {
    return Object.keys(this.#places);
  }

  /** The bytes of a file, or `undefined` if there is none of that name. */
  read(name) {
    const place = this.#places[name];
    if (place === undefined) return undefined;
    const bytes = this.#bytes.subarray(place.begin, place.end);
    return place.deflated ? require('node:zlib').inflateRawSync(bytes) : bytes;
  }
}

/**
 * The CommonJS modules of the bundle, each compiled at its first use. All of them are in memory from the start: a server
 * goes on when it has no descriptors left, and when an upgrade removes the files that it was started from.
 */
class BundledModules {
  #pack = new Pack(MODULES);
  #modules = new Map();
  #evaluator;
  #requireHere = Module.createRequire(MODULES);

  constructor(evaluator) {
    this.#evaluator = evaluator;
  }

  /** What a module exports. A file that is none has its `bytes`. */
  load(name) {
    const known = this.#modules.get(name);
    if (known !== undefined) return known.exports;
    const bytes = this.#pack.read(name);
    if (bytes === undefined) throw new Error(`${name} is not in ${MODULES}`);
    const module = new Module(path.join(BUNDLE, name));
    module.filename = module.id;
    module.require = (id) => (id.startsWith('./') ? this.load(id.slice(2)) : this.#requireHere(id));
    this.#modules.set(name, module);
    if (!name.endsWith('.js')) module.exports = { bytes };
    else this.#evaluate(name, module, bytes);
    return module.exports;
  }

  #evaluate(name, module, bytes) {
    try {
      this.#evaluator.evaluate(name, module, bytes);
    } catch (error) {
      // The next use tries again, as Node does it.
      this.#modules.delete(name);
      throw error;
    }
  }
}

/** Node 22 and later keep the code of what their own loader compiles, also of text that is no file. */
function evaluateAsNodeDoes(_name, module, bytes) {
  const [before, after] = WRAPPER;
  const text = bytes.latin1Slice(before.length, bytes.length - after.length);
  module._compile(text, module.filename, 'commonjs');
}

/**
 * Evaluates with the code that the build compiled for this version of Node, where Node itself keeps none. V8 refuses what
 * another version or other flags compiled; then the text is compiled anew.
 */
class CachedScripts {
  #kept = readKeptCode();
  #scripts = new Map();

  evaluate(name, module, bytes) {
    const cachedData = this.#kept?.read(name);
    // What a start uses was kept, so that the start is over with the first that was not.
    if (cachedData === undefined) this.#kept = undefined;
    // The bundler writes nothing but ASCII, which is read fastest by this name.
    const script = new Script(bytes.latin1Slice(), { filename: module.filename, cachedData });
    this.#scripts.set(name, script);
    script.runInThisContext()(module.exports, module.require, module, module.filename, BUNDLE);
  }

  /** What V8 compiled so far, by the names of the modules, in the order of their first use. */
  compiled() {
    return new Map([...this.#scripts].map(([name, script]) => [name, script.createCachedData()]));
  }
}

function readKeptCode() {
  try {
    return new Pack(COMPILED);
  } catch {
    return undefined;
  }
}

module.exports = {
  BUILT_FROM,
  BundledModules,
  CachedScripts,
  COMPILED,
  MODULES,
  PACKAGES,
  Pack,
  WRAPPER,
  digestBuild,
  isBundleCurrent,
  loadBundle,
};
