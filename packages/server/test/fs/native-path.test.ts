import { describe, expect, it } from 'vitest';
import {
  baseName,
  isWithin,
  joinPath,
  normalizePath,
  parentPath,
  splitPath,
} from '../../src/fs/native-path.js';

const bytes = (text: string) => Buffer.from(text);

it.each([
  ['/', '/'],
  ['//', '/'],
  ['/..', '/'],
  ['/a', '/a'],
  ['/a/', '/a'],
  ['/a//b', '/a/b'],
  ['/a/./b/.', '/a/b'],
  ['/a/../b', '/b'],
  ['/a/b/..', '/a'],
  ['/a/../../b', '/b'],
  ['/.a/..b/...', '/.a/..b/...'],
])('%s is %s', (path, normalized) => {
  expect(normalizePath(bytes(path)).toString()).toBe(normalized);
});

it('splits at slashes and at nothing else', () => {
  const path = Buffer.from([0x2f, 0xff, 0x2f, 0x5c, 0x2e, 0x2f, 0x00]);
  expect(splitPath(path)).toEqual([Buffer.from([0xff]), Buffer.from([0x5c, 0x2e]), Buffer.from([0x00])]);
  expect(splitPath(bytes('/'))).toEqual([]);
});

it('joins and takes apart', () => {
  expect(joinPath(bytes('/'), bytes('a')).toString()).toBe('/a');
  expect(joinPath(bytes('/a'), bytes('b')).toString()).toBe('/a/b');
  expect(parentPath(bytes('/a')).toString()).toBe('/');
  expect(parentPath(bytes('/a/../b')).toString()).toBe('/a/..');
  expect(baseName(bytes('/a/b')).toString()).toBe('b');
});

describe('isWithin', () => {
  it.each([
    ['/a', '/a', true],
    ['/a/b', '/a', true],
    ['/ab', '/a', false],
    ['/', '/a', false],
    ['/a', '/', true],
    ['/', '/', true],
  ])('%s in %s: %s', (path, directory, expected) => {
    expect(isWithin(bytes(path), bytes(directory))).toBe(expected);
  });
});
