// Makes CommonJS that esbuild wrote load what it imports where it is first used, and not before it runs itself.
import Module from 'node:module';
import { Script } from 'node:vm';

/** Makes a function that loads a module once. */
const LAZY = '__lazy';

/**
 * How esbuild declares an import, of a file or a module of Node, and of a CommonJS package that it has put into a file:
 * `import_node_fs=require("node:fs")`, `import_pino=(0,import_chunk_A.__toESM)((0,import_chunk_B.require_pino)(),1)`.
 */
const IMPORT = (() => {
  const named = (name) => `(?:${name}|\\(0,import_\\w+\\.${name}\\))`;
  const ofPackage = `${named('__toESM')}\\(${named('require_\\w+')}\\(\\)(?:,1)?\\)`;
  return new RegExp(`\\b(import_\\w+)=(require\\("[^"]+"\\)|${ofPackage})`, 'g');
})();

/** A use of one; not its declaration, nor a name by which another file has it or has it from there. */
const USE = new RegExp(`(?<![\\w$)\\]?]\\.)\\bimport_\\w+\\b(?!=${LAZY}|:\\(\\)=>import_)`, 'g');

/** The names of what a file exports, for who imports it into ES modules: nobody does. */
const EXPORTED_NAMES = /0&&\(module\.exports=\{[^}]*\}\);\n?$/;

/**
 * Rewrites minified CommonJS of esbuild, in which every import is a variable `import_…` of its own. A start needs little
 * of what is imported; that the rest comes later nobody can tell, because no module does anything by being loaded.
 */
export function loadAtFirstUse(code) {
  const names = new Set();
  const declared = code.replace(EXPORTED_NAMES, '').replaceAll(IMPORT, (_, name, load) => {
    names.add(name);
    return `${name}=${LAZY}(()=>${load})`;
  });
  if (names.size === 0) return code;
  const used = declared.replaceAll(USE, (name) => (names.has(name) ? `(${name}())` : name));
  const lazyCode = `const ${LAZY}=load=>{let loaded;return()=>loaded??=load()};${used}`;
  // Fails the build, and not a start, when esbuild writes something else than it did.
  new Script(Module.wrap(lazyCode));
  return lazyCode;
}
