import { expect, it } from 'vitest';
import { toChildUri, toNativeText, toPathUri, toSiblingUri } from '../../src/fs/remote-path.js';

it.each([
  ['/a/b', 'file:///a/b'],
  ['/a b#?%', 'file:///a%20b%23%3F%25'],
  ['/ümlaut', 'file:///%C3%BCmlaut'],
  ['/', 'file:///'],
  ['/a/../b/./c//d/', 'file:///b/c/d'],
  ['/../..', 'file:///'],
  ['/.../..x', 'file:///.../..x'],
  ['file:///a%20b', 'file:///a%20b'],
  ['file:///a%2F..%2Fb', 'file:///b'],
  [new URL('file:///a/%C3%BC'), 'file:///a/%C3%BC'],
  [Uint8Array.of(0x2f, 0xff, 0x61), 'file:///%FFa'],
  [Uint8Array.of(0x2f, 0xff, 0x2f, 0x2e, 0x2e, 0x2f, 0x61), 'file:///a'],
])('%s is %s', (path, uri) => {
  expect(toPathUri(path)).toBe(uri);
});

it.each(['a/b', '', './a', '~', 'http://host/x', 'C:\\x', new URL('http://host/x'), new Uint8Array()])(
  '%s is no absolute path',
  (path) => {
    expect(() => toPathUri(path)).toThrow(expect.objectContaining({ code: 'usage' }));
  },
);

it.each([
  ['/', 'x', '/x'],
  ['/a', 'x y', '/a/x y'],
  ['/C:', 'x', '/C:/x'],
])('in %s, %s is %s', (directory, name, path) => {
  expect(toNativeText(toChildUri(toPathUri(directory), name))).toBe(path);
});

it.each([
  ['/a', '/x'],
  ['/a/b', '/a/x'],
  ['/C:/b', '/C:/x'],
])('beside %s there is %s', (path, sibling) => {
  expect(toNativeText(toSiblingUri(toPathUri(path), 'x'))).toBe(sibling);
});
