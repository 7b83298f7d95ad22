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

it('a pattern with more ways to match than can be tried is decided all the same', () => {
  const name = 'a'.repeat(255);
  expect(compileGlob(`/w/${'*a'.repeat(60)}*b`).matches(`/w/${name}`)).toBe(false);
  expect(compileGlob(`/w/${'{a,a}'.repeat(255)}`).matches(`/w/${name}`)).toBe(true);
  expect(compileGlob(`/${'**/a/'.repeat(60)}b`).matches(`/${'a/'.repeat(500)}`)).toBe(false);
});
