import Module, { createRequire } from 'node:module';
import { runInThisContext } from 'node:vm';
import { transform } from 'esbuild';
import { expect, test } from 'vitest';
import { loadAtFirstUse } from '../../scripts/load-at-first-use.mjs';

/** Runs ES module text as the bundle would; tells what it exports, and what it has loaded in which order. */
async function run(source: string) {
  const { code } = await transform(source, {
    format: 'cjs',
    platform: 'node',
    minifySyntax: true,
    minifyWhitespace: true,
  });
  const loaded: string[] = [];
  const module = { exports: {} as Record<string, unknown> };
  const load = (name: string) => {
    loaded.push(name);
    return createRequire(import.meta.url)(name) as unknown;
  };
  const evaluate = runInThisContext(Module.wrap(loadAtFirstUse(code))) as (...args: unknown[]) => void;
  evaluate(module.exports, load, module);
  return { loaded, exports: module.exports };
}

test('a module is loaded at its first use, and once', async () => {
  const { loaded, exports } = await run(`
    import { join } from 'node:path';
    import { EOL } from 'node:os';
    export const joined = () => join('a', 'b');
    export const newline = () => EOL;
  `);
  expect(loaded).toEqual([]);
  expect((exports.joined as () => string)()).toBe('a/b');
  expect((exports.joined as () => string)()).toBe('a/b');
  expect(loaded).toEqual(['node:path']);
});

test('what is imported can be extended, made, spread, called and passed on', async () => {
  const { exports } = await run(`
    import { EventEmitter } from 'node:events';
    import { constants } from 'node:os';
    import { BlockList } from 'node:net';
    import * as path from 'node:path';
    export class Emitter extends EventEmitter {}
    export const list = new BlockList();
    export const signals = { ...constants.signals, none: 0 };
    export const choose = (posix) => (posix ? path : undefined)?.sep;
    export { basename } from 'node:path';
  `);
  expect(new (exports.Emitter as new () => object)()).toHaveProperty('on');
  expect(exports.list).toHaveProperty('addSubnet');
  expect(exports.signals).toMatchObject({ SIGTERM: 15, none: 0 });
  expect((exports.choose as (posix: boolean) => string)(true)).toBe('/');
  expect((exports.basename as (path: string) => string)('/a/b')).toBe('b');
});

test('text without imports stays as it is', () => {
  expect(loadAtFirstUse('var a=1;')).toBe('var a=1;');
});

test('text that cannot be rewritten fails', () => {
  expect(() => loadAtFirstUse('var import_a=require("a");f({import_a});')).toThrow(SyntaxError);
});
