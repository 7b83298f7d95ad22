import { nativeToPathUri, pathUriToNative } from '@exec-server/protocol';
import { expect, it } from 'vitest';
import { childUri } from '../../src/fs/child-uri.js';

it.each([
  ['file:///tmp/d', '/tmp/d', 'f', 'file:///tmp/d/f'],
  ['file:///tmp/d/', '/tmp/d', 'f', 'file:///tmp/d/f'],
  ['file:///tmp/a%2F..%2Fd', '/tmp/d', 'f', 'file:///tmp/a%2F..%2Fd/f'],
  ['file:///tmp/d', '/tmp/d', 'sp ace%#?é', 'file:///tmp/d/sp%20ace%25%23%3F%C3%A9'],
  ['file:///tmp/d', '/tmp/d', 'C:', 'file:///tmp/d/C:'],
  ['file:///', '/', 'tmp', 'file:///tmp'],
  ['file:///', '/', 'C:', nativeToPathUri('/C:')],
])('in %s: %s %s is %s', (uri, path, name, expected) => {
  expect(childUri({ uri, path: Buffer.from(path) }, Buffer.from(name))).toBe(expected);
});

it('below a directory without a URI form of its own', () => {
  const path = Buffer.from('/C:/d');
  const child = childUri({ uri: nativeToPathUri(path), path }, Buffer.from('f'));
  expect(Buffer.from(pathUriToNative(child)).toString()).toBe('/C:/d/f');
});

it('replaces what is no text', () => {
  const parent = { uri: 'file:///d', path: Buffer.from('/d') };
  expect(childUri(parent, Buffer.from([0x61, 0xff]))).toBe('file:///d/a%EF%BF%BD');
});
