import fc from 'fast-check';
import { expect, it } from 'vitest';
import { compileGlob } from '../../../src/sandbox/policy/glob.js';
import { PolicyError } from '../../../src/sandbox/policy/policy-error.js';

it.each([
  ['/w/**/*.env', '/w', ['/w/.env', '/w/a.env', '/w/x/y/a.env'], ['/w/env', '/v/a.env', '/w/a.env.txt']],
  ['/w/*', '/w', ['/w/a', '/w/.hidden'], ['/w', '/w/a/b']],
  ['/w/sub/**', '/w/sub', ['/w/sub/a', '/w/sub/a/b'], ['/w/subway']],
  ['/w/?.txt', '/w', ['/w/a.txt', '/w/ü.txt'], ['/w/.txt', '/w/ab.txt', '/w//.txt']],
  ['/w/[a-c]x', '/w', ['/w/ax', '/w/cx'], ['/w/dx', '/w/-x']],
  ['/w/[!a-c]x', '/w', ['/w/dx'], ['/w/ax', '/w//x']],
  ['/w/{id_rsa,*.pem}', '/w', ['/w/id_rsa', '/w/a.pem'], ['/w/id', '/w/{id_rsa,a.pem}']],
  ['/w/a\\*b', '/w', ['/w/a*b'], ['/w/axb']],
  ['/w/plain.txt', '/w', ['/w/plain.txt'], ['/w/plainxtxt']],
  ['/**/secret', '/', ['/secret', '/a/b/secret'], ['/a/secrets']],
])('%s', (text, base, matching, others) => {
  const glob = compileGlob(text);
  expect(glob.base).toBe(base);
  expect(matching.filter((path) => !glob.matches(path))).toEqual([]);
  expect(others.filter((path) => glob.matches(path))).toEqual([]);
});

it('a range that ends before it begins is refused', () => {
  expect(() => compileGlob('/w/[b-a]')).toThrow(PolicyError);
  expect(compileGlob('/w/[a-a]').matches('/w/a')).toBe(true);
});

it.each([
  ['/w/*/../secret/key', '/w/secret', ['/w/secret/key'], ['/w/x/secret/key']],
  ['/w/gone/../secret/*', '/w/secret', ['/w/secret/key'], ['/w/gone/key']],
  ['/w/{a,b}/c/../*', '/w', ['/w/a/x', '/w/b/x'], ['/w/c/x']],
  ['/w/*/../../v/*', '/v', ['/v/x'], ['/w/x']],
  ['/../w/./*', '/w', ['/w/x'], []],
  ['/w/.*/key', '/w', ['/w/.ssh/key'], ['/w/key']],
  ['/w/{,.}a', '/w', ['/w/a', '/w/.a'], ['/w/.']],
  ['/w/[x', '/w', ['/w/[x'], ['/w/x']],
  ['/w/\\[x/]', '/w', ['/w/[x/]'], []],
  ['/w/\\{x', '/w', ['/w/{x'], []],
])('%s means what the path of a rule would', (text, base, matching, others) => {
  const glob = compileGlob(text);
  expect(glob.base).toBe(base);
  expect(matching.filter((path) => !glob.matches(path))).toEqual([]);
  expect(others.filter((path) => glob.matches(path))).toEqual([]);
});

it.each([
  '/w/**/../secret/key',
  '/w/**/a/../../secret',
  '/w/\\.\\./secret',
  '/w/[.][.]/secret',
  '/w/{..,x}/secret',
  '/w/{.,x}/secret',
  '/w/{,sub}/key',
  '/w/{a/key,b}',
  '/w/{a,{b,c}}',
  '/w/{a,b',
  '/w/[a/b]',
  '/w/{[,],a}',
  '/w/{a\\,b}',
  '/w/a\\/b',
  '/w/a\\',
  '/w/..',
  '/',
])('%s would hide nothing, and is refused', (text) => {
  expect(() => compileGlob(text)).toThrow(PolicyError);
});

it('a pattern with more ways to match than can be tried is decided all the same', () => {
  const name = 'a'.repeat(255);
  expect(compileGlob(`/w/${'*a'.repeat(60)}*b`).matches(`/w/${name}`)).toBe(false);
  expect(compileGlob(`/w/${'{a,a}'.repeat(255)}`).matches(`/w/${name}`)).toBe(true);
  expect(compileGlob(`/${'**/a/'.repeat(60)}b`).matches(`/${'a/'.repeat(500)}`)).toBe(false);
});

it.each([
  ['/w/a/*/c', ['b'], 'on'],
  ['/w/a/*/c', ['b', 'x'], 'nowhere'],
  ['/w/*/b/c', ['x'], 'on'],
  ['/w/*/b/c', ['x', 'y'], 'nowhere'],
  ['/w/*/b/c', ['x', 'b'], 'on'],
  ['/w/*/b/c', ['x', 'b', 'c'], 'match'],
  ['/w/*/b/c', ['x', 'b', 'c', 'd'], 'nowhere'],
  ['/w/**/c', ['x', 'y'], 'on'],
  ['/w/**/**/**', ['x'], 'match'],
])('%s leads from its base by %o: %s', (text, names, expected) => {
  const glob = compileGlob(text);
  const state = names.reduce((before, name) => glob.step(before, name), glob.start);
  const led = glob.isMatch(state) ? 'match' : state.length > 0 ? 'on' : 'nowhere';
  expect(led).toBe(expected);
});

it('a pattern with many places for any names is at few of them at once', () => {
  const glob = compileGlob(`/${'**/'.repeat(1_000)}a`);
  expect(glob.start).toHaveLength(2);
  expect(glob.matches(`/${'x/'.repeat(200)}a`)).toBe(true);
  const interleaved = compileGlob(`/${'**/a/'.repeat(500)}b`);
  expect(interleaved.matches(`/${'a/'.repeat(499)}b`)).toBe(false);
  expect(interleaved.matches(`/${'a/'.repeat(500)}b`)).toBe(true);
});

it('matches what a regular expression of the same meaning does', () => {
  const names: [glob: string, expression: string][] = [
    ['a', 'a'],
    ['*', '[^/]*'],
    ['?b', '[^/]b'],
    ['[a-b]*', '[a-b][^/]*'],
    ['{a,bb,*c}', '(?:a|bb|[^/]*c)'],
    ['*a*', '[^/]*a[^/]*'],
  ];
  const component = fc.constantFrom(...names, ['**', ''] as const);
  const path = fc.array(fc.stringMatching(/^[abc]{1,4}$/), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(fc.array(component, { minLength: 1, maxLength: 5 }), path, (components, texts) => {
      const glob = compileGlob(`/${components.map(([text]) => text).join('/')}`);
      const sources = components.map(([text, source]) => (text === '**' ? '(?:/[^/]+)*' : `/${source}`));
      const isMatch = new RegExp(`^${sources.join('')}$`).test(`/${texts.join('/')}`);
      expect(glob.matches(`/${texts.join('/')}`)).toBe(isMatch);
    }),
    { numRuns: 2_000 },
  );
});
