import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  ForeignPathError,
  MAX_PATH_URI_LENGTH,
  nativePathText,
  nativeToPathUri,
  PathUriError,
  parsePathUri,
  pathUriToNative,
} from '../src/index.js';

const nativeText = (uri: string) => nativePathText(pathUriToNative(uri));

it.each([
  [-1, true],
  [0, true],
  [1, false],
])('a URI of %i characters more than the longest is read: %s', (more, isRead) => {
  const uri = `file:///${'a'.repeat(MAX_PATH_URI_LENGTH + more - 8)}`;
  if (isRead) expect(parsePathUri(uri).href).toBe(uri);
  else expect(() => parsePathUri(uri)).toThrow(PathUriError);
});

it('takes a path of as many segments as a message has room for', () => {
  const path = '/a'.repeat(8 * 1024 * 1024);
  expect(nativeToPathUri(path)).toBe(`file://${path}`);
});

describe('accepted spellings', () => {
  it.each([
    ['file:///tmp/x', '/tmp/x'],
    ['file:/tmp/x', '/tmp/x'],
    ['file:tmp', '/tmp'],
    ['file:', '/'],
    ['file://', '/'],
    ['FILE:///tmp', '/tmp'],
    ['file://localhost/tmp', '/tmp'],
    ['file://LOCALHOST/tmp', '/tmp'],
    ['file://%6cocalhost/tmp', '/tmp'],
    ['  file:///tmp  ', '/tmp'],
    ['\tfile:///t\nmp', '/tmp'],
    ['file:\\\\\\tmp\\x', '/tmp/x'],
    ['file:///tmp/sp ace%25%23%3Fé.txt', '/tmp/sp ace%#?é.txt'],
    ['file:///tmp/d/../x', '/tmp/x'],
    ['file:///tmp/%2e%2e/x', '/x'],
    ['file:///..', '/'],
    ['file:///tmp%2Fx', '/tmp/x'],
    ['file:///tmp%2F..%2Fx', '/tmp/../x'],
    ['file:////tmp', '//tmp'],
    ['file:///tmp/', '/tmp/'],
    ['file:///%', '/%'],
    ['file:///%zz', '/%zz'],
    ['file:///tmp/C:/x', '/tmp/C:/x'],
    ['file:///C:y', '/C:y'],
    ['file:///CC:/x', '/CC:/x'],
    ['file:///%43:/x', '/C:/x'],
    ['file:///C|/x', '/C|/x'],
    ['file:///C%7C/x', '/C|/x'],
    ['file:///%00/bad/path/L0M6L3g', '/C:/x'],
  ])('%j', (uri, path) => {
    expect(nativeText(uri)).toBe(path);
  });

  it('keeps bytes that are no UTF-8', () => {
    expect(pathUriToNative('file:///%ff%80A')).toEqual(new Uint8Array([0x2f, 0xff, 0x80, 0x41]));
  });

  it('shows the canonical spelling', () => {
    expect(parsePathUri('FILE:/tmp/a b').href).toBe('file:///tmp/a%20b');
    expect(parsePathUri('file:c:/x').href).toBe('file:///C:/x');
  });
});

it('makes no difference between a plain URI and one whose scheme is spelled another way', () => {
  const segment = fc.string({ unit: fc.constantFrom(...Array.from("aZ09_~$&'()+,;=@-.!*|:%")) });
  fc.assert(
    fc.property(fc.array(segment, { minLength: 1, maxLength: 4 }), (segments) => {
      const read = (text: string) => {
        try {
          return parsePathUri(text).href;
        } catch (error) {
          return (error as Error).message;
        }
      };
      const uri = `file:///${segments.join('/')}`;
      expect(read(uri)).toBe(read(uri.replace('file', 'FILE')));
    }),
    { numRuns: 1_000 },
  );
});

describe('refused as no path URI', () => {
  it.each([
    ['/tmp', 'invalid URI: relative URL without a base'],
    ['a.txt', 'invalid URI: relative URL without a base'],
    ['', 'invalid URI: relative URL without a base'],
    ['1a:b', 'invalid URI: relative URL without a base'],
    ['\u00a0file:///tmp', 'invalid URI: relative URL without a base'],
    ['http://x/y', 'unsupported path URI scheme `http`'],
    ['data:x', 'unsupported path URI scheme `data`'],
    ['C:\\x', 'unsupported path URI scheme `c`'],
    ['foo://x/y?z#w', 'unsupported path URI scheme `foo`'],
    ['http:', 'invalid URI: empty host'],
    ['file:///tmp?x', 'query parameters are not allowed in path URIs'],
    ['file:///tmp?', 'query parameters are not allowed in path URIs'],
    ['file:///tmp?x#y', 'query parameters are not allowed in path URIs'],
    ['file:///tmp#x', 'fragments are not allowed in path URIs'],
    ['file:///tmp#', 'fragments are not allowed in path URIs'],
    ['file://host:80/x', 'invalid URI: invalid international domain name'],
    ['file://u@h/x', 'invalid URI: invalid international domain name'],
    ['file://u:p@localhost/tmp', 'invalid URI: invalid international domain name'],
    ['file://ex ample/x', 'invalid URI: invalid international domain name'],
    ['file:///tmp/%00', "'file:///tmp/%00' is invalid on 'linux'"],
    ['file:///%00/x', "'file:///%00/x' is invalid on 'linux'"],
    ['file:///%00/bad/path/', "'file:///%00/bad/path/' is invalid on 'linux'"],
    ['file:///%00/bad/path/!!!', "'file:///%00/bad/path/!!!' is invalid on 'linux'"],
    ['file:///%00/bad/path/A', "'file:///%00/bad/path/A' is invalid on 'linux'"],
    ['file:///%00/bad/path/a/b', "'file:///%00/bad/path/a/b' is invalid on 'linux'"],
    ['file:///%00/bad/path/QQ==', "'file:///%00/bad/path/QQ==' is invalid on 'linux'"],
    ['file:///%00/bad/path/L0M6L3h', "'file:///%00/bad/path/L0M6L3h' is invalid on 'linux'"],
  ])('%j', (uri, problem) => {
    expect(() => parsePathUri(uri)).toThrow(new PathUriError(problem));
  });
});

describe('refused as foreign', () => {
  it.each([
    ['file://host/x', 'file://host/x'],
    ['file://HOST', 'file://host/'],
    ['file://127.0.0.1/tmp', 'file://127.0.0.1/tmp'],
    ['file://münchen/x', 'file://xn--mnchen-3ya/x'],
    ['file:///C:/x', 'file:///C:/x'],
    ['file:///c:', 'file:///C:'],
    ['file:///C%3A/x', 'file:///C%3A/x'],
    ['file://C:/x', 'file:///C:/x'],
    ['file://c|/x', 'file:///C:/x'],
    ['file:///%00/bad/path/L2V0Yy9ob3N0bmFtZQ', 'file:///%00/bad/path/L2V0Yy9ob3N0bmFtZQ'],
    ['file:///%00/bad/path/L3RtcC8uLi90bXA', 'file:///%00/bad/path/L3RtcC8uLi90bXA'],
    ['file:///%00/bad/path/dG1w', 'file:///%00/bad/path/dG1w'],
  ])('%j', (uri, href) => {
    expect(() => pathUriToNative(uri)).toThrow(new ForeignPathError(href, 'linux'));
    expect(() => pathUriToNative(uri)).toThrow(`'${href}' is invalid on 'linux'`);
  });

  it('names the platform', () => {
    expect(() => pathUriToNative('file://host/x', 'macos')).toThrow("'file://host/x' is invalid on 'macos'");
  });
});

describe('nativeToPathUri', () => {
  it('escapes exactly the bytes that the reference escapes', () => {
    const bytes = new Uint8Array(Array.from({ length: 127 }, (_, index) => index + 1));
    const path = new Uint8Array([0x2f, ...bytes.filter((byte) => byte !== 0x2f), 0xc3, 0xa9, 0xff]);
    const low = Array.from(
      { length: 31 },
      (_, i) => `%${(i + 1).toString(16).toUpperCase().padStart(2, '0')}`,
    );
    expect(nativeToPathUri(path)).toBe(
      `file:///${low.join('')}%20!%22%23$%25&'()*+,-.0123456789:;%3C=%3E%3F@ABCDEFGHIJKLMNOPQRSTUVWXYZ[%5C]^_%60` +
        'abcdefghijklmnopqrstuvwxyz%7B|%7D~%7F%C3%A9%FF',
    );
  });

  it.each([
    ['/', 'file:///'],
    ['/tmp/a-b_c.txt', 'file:///tmp/a-b_c.txt'],
    ['/home/.config', 'file:///home/.config'],
    ['/tmp/', 'file:///tmp/'],
    ['/C:/x', 'file:///%00/bad/path/L0M6L3g'],
    ['/C:', 'file:///%00/bad/path/L0M6'],
    ['/C|/x', 'file:///C|/x'],
    ['/tmp/\0', 'file:///%00/bad/path/L3RtcC8A'],
    ['/.', 'file:///'],
    ['/..', 'file:///'],
    ['/tmp/../x', 'file:///tmp%2F..%2Fx'],
  ])('%j', (path, uri) => {
    expect(nativeToPathUri(path)).toBe(uri);
    expect(nativeToPathUri(new TextEncoder().encode(path))).toBe(uri);
  });

  it('refuses relative paths', () => {
    expect(() => nativeToPathUri('tmp/x')).toThrow(TypeError);
  });

  it('loses no byte of an absolute path', () => {
    const byte = fc.oneof(
      fc.constantFrom(...new TextEncoder().encode('/.C:|%a\\')),
      fc.integer({ min: 1, max: 255 }),
    );
    fc.assert(
      fc.property(fc.array(byte, { maxLength: 12 }), (tail) => {
        const path = new Uint8Array([0x2f, ...tail]);
        // The root's `.` and `..` are the root; every other path comes back byte by byte.
        fc.pre(!['/.', '/..'].includes(nativePathText(path)));
        expect(pathUriToNative(nativeToPathUri(path))).toEqual(path);
      }),
      { numRuns: 20_000 },
    );
  });
});

it('shows paths that are no text with replacement characters', () => {
  expect(nativePathText(new Uint8Array([0x2f, 0xff, 0x41]))).toBe('/\ufffdA');
});
