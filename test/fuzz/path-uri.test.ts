import {
  ForeignPathError,
  nativeToPathUri,
  PathUriError,
  parsePathUri,
  pathUriToNative,
} from '@exec-server/protocol';
import fc from 'fast-check';
import { expect } from 'vitest';
import { testProperty } from './property.js';

const SLASH = 0x2f;
const SEGMENTS = [
  '.',
  '..',
  '',
  'C:',
  'c|',
  'C%3A',
  '%2e%2E',
  '%2F',
  '%00',
  'bad',
  'path',
  'a b',
  'é',
  '#',
  '?',
  '\\',
];

const segment = fc.oneof(
  fc.constantFrom(...SEGMENTS).map((text) => Buffer.from(text)),
  fc.uint8Array({ maxLength: 8 }).map((bytes) => Buffer.from(bytes)),
);

/** Paths as bytes, as a POSIX kernel would take them; also with NUL, which none does. */
const path = fc
  .array(segment, { minLength: 1, maxLength: 5 })
  .map((segments) => Buffer.concat(segments.flatMap((bytes) => [Buffer.from('/'), bytes])));

const uriText = fc.oneof(
  fc
    .tuple(
      fc.constantFrom(
        'file://',
        'FILE:',
        'file:',
        'file:///',
        ' file://',
        'fi\tle://',
        'file://host',
        'http://',
      ),
      fc.array(fc.oneof(fc.constantFrom(...SEGMENTS, '%00/bad/path/L2E'), fc.string({ unit: 'binary' }))),
    )
    .map(([scheme, segments]) => `${scheme}/${segments.join('/')}`),
  fc.string({ unit: 'binary' }),
  fc.webUrl({ withQueryParameters: true, withFragments: true }),
);

/** A single `.` or `..` below the root is the root: its URI has no segment to hide the dots in. */
const namesRoot = (bytes: Uint8Array) => /^\/\.{1,2}$/.test(Buffer.from(bytes).toString('latin1'));

testProperty(
  'every absolute path has a URI that leads back to it',
  fc.property(path, (bytes) => {
    const uri = nativeToPathUri(bytes);
    const expected = namesRoot(bytes) ? Buffer.from('/') : bytes;
    expect(Buffer.from(pathUriToNative(uri))).toEqual(expected);
    expect(Buffer.from(pathUriToNative(parsePathUri(uri).href))).toEqual(expected);
  }),
  6_000,
);

testProperty(
  'any text names an absolute path that has the same URI again, or is refused as what it is',
  fc.property(uriText, (text) => {
    try {
      const bytes = pathUriToNative(text);
      expect(bytes[0]).toBe(SLASH);
      expect(Buffer.from(pathUriToNative(nativeToPathUri(bytes)))).toEqual(Buffer.from(bytes));
    } catch (error) {
      if (!(error instanceof PathUriError) && !(error instanceof ForeignPathError)) throw error;
    }
  }),
  6_000,
);
