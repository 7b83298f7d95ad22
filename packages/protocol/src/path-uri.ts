import { checkBase64, decodeBase64, encodeBase64 } from './base64.js';
import { MAX_PATH_URI_LENGTH } from './limits.js';

/** A parsed `file:` URI. It may still name a path that no path of this host corresponds to. */
export interface PathUri {
  /** Canonical spelling: what the WHATWG URL parser makes of the text. */
  readonly href: string;
}

export type Platform = 'linux' | 'macos';

/** The text is no path URI at all. The message is what a -32602 answer says. */
export class PathUriError extends Error {
  static {
    PathUriError.prototype.name = 'PathUriError';
  }
}

/** The URI is well formed but names a path of another kind of host: a share, a drive, an unneeded escape. */
export class ForeignPathError extends Error {
  constructor(href: string, platform: Platform) {
    super(describeForeign(href, platform));
  }

  static {
    ForeignPathError.prototype.name = 'ForeignPathError';
  }
}

const LOCAL_PREFIX = 'file://';

/** Prefix of paths that have no URI form; behind it come their bytes as base64url without padding. */
const OPAQUE_PREFIX = 'file:///%00/bad/path/';
const OPAQUE_URI = /^file:\/\/\/%00\/bad\/path\/([A-Za-z0-9_-]+)$/;

/** The scheme of a text as the URL parser sees it: behind leading control characters and spaces. */
const SCHEME = /^[^\u0021-\uffff]*([A-Za-z][A-Za-z0-9+.-]*):/;

/** A first path segment that is a Windows drive, also with its colon escaped. */
const DRIVE = /^file:\/\/\/[A-Za-z](?::|%3A)(?:\/|$)/i;
const LOWER_CASE_DRIVE = /^file:\/\/\/[a-z]:(?=\/|$)/;

/** A first path segment of a letter and `|`, which the URL parser would take for a drive and POSIX does not. */
const LETTER_AND_BAR = /^(file:\/\/\/[A-Za-z])\|/i;

/*
 * Paths that are their own URI form: no byte to escape, no segment with a meaning, no drive. Two expressions, because one
 * with a group for each segment needs memory for each of them, and has not enough of it for the longest messages.
 */
const PLAIN_CHARACTERS = /^\/[A-Za-z0-9_~$&'()+,;=@.!*/-]*$/;
const TELLING_SEGMENT = /\/\.?(?:[.!*/]|$)/;

/** ASCII characters that a path carries escaped; so are controls and everything beyond ASCII. */
const ESCAPED_CHARACTERS = new Set(Array.from(' "#%<>?\\`{}', (character) => character.charCodeAt(0)));

const SLASH = 0x2f;
const PERCENT = 0x25;

/**
 * Parses a path URI by the WHATWG URL rules.
 *
 * @throws PathUriError
 */
export function parsePathUri(text: string, platform: Platform = 'linux'): PathUri {
  if (text.length > MAX_PATH_URI_LENGTH)
    throw new PathUriError(
      `path URIs have at most ${MAX_PATH_URI_LENGTH} characters, this one has ${text.length}`,
    );
  if (isPlainUri(text)) return { href: text };
  const url = parseFileUrl(text);
  const { href } = url;
  if (href.includes('?')) throw new PathUriError('query parameters are not allowed in path URIs');
  if (href.includes('#')) throw new PathUriError('fragments are not allowed in path URIs');
  if (href.includes('%00') && decodeOpaque(href) === undefined) {
    throw new PathUriError(describeForeign(href, platform));
  }
  return {
    href: href.replace(LOWER_CASE_DRIVE, (drive) => drive.slice(0, -2) + drive.slice(-2).toUpperCase()),
  };
}

/** Whether a text is the canonical URI of a path that is its own URI form; the URL parser would return it as it is. */
export function isPlainUri(text: string): boolean {
  return (
    text.length <= MAX_PATH_URI_LENGTH &&
    text.startsWith(LOCAL_PREFIX) &&
    isPlainPath(text.slice(LOCAL_PREFIX.length))
  );
}

function isPlainPath(path: string): boolean {
  return PLAIN_CHARACTERS.test(path) && !TELLING_SEGMENT.test(path);
}

function parseFileUrl(text: string): URL {
  const scheme = SCHEME.exec(text.replace(/[\t\n\r]/g, ''))?.[1]?.toLowerCase();
  if (scheme === undefined) throw new PathUriError('invalid URI: relative URL without a base');
  let url: URL;
  try {
    url = new URL(text.replace(LETTER_AND_BAR, '$1%7C'));
  } catch {
    const reason = scheme === 'file' ? 'invalid international domain name' : 'empty host';
    throw new PathUriError(`invalid URI: ${reason}`);
  }
  if (scheme !== 'file') throw new PathUriError(`unsupported path URI scheme \`${scheme}\``);
  return url;
}

function describeForeign(href: string, platform: Platform): string {
  return `'${href}' is invalid on '${platform}'`;
}

/**
 * The bytes of the absolute path that a URI names on a POSIX host. They hold a NUL only where the URI spells one out in
 * its opaque form; the operating system refuses such a path.
 *
 * @throws PathUriError when given text that is no path URI
 * @throws ForeignPathError
 */
export function pathUriToNative(
  uri: PathUri | string,
  platform: Platform = 'linux',
): Uint8Array<ArrayBuffer> {
  const { href } = typeof uri === 'string' ? parsePathUri(uri, platform) : uri;
  if (!href.startsWith('/', LOCAL_PREFIX.length) || DRIVE.test(href)) {
    throw new ForeignPathError(href, platform);
  }
  const opaque = decodeOpaque(href);
  if (opaque === undefined) return decodePercent(href.slice(LOCAL_PREFIX.length));
  // One path, one URI: the opaque form is only for paths that have no other.
  if (opaque[0] !== SLASH || nativeToPathUri(opaque) !== href) throw new ForeignPathError(href, platform);
  return opaque;
}

/** The canonical URI of an absolute POSIX path. Throws `TypeError` when the path is relative. */
export function nativeToPathUri(path: Uint8Array | string): string {
  if (typeof path === 'string') {
    if (isPlainPath(path)) return LOCAL_PREFIX + path;
    return nativeToPathUri(new TextEncoder().encode(path));
  }
  if (path[0] !== SLASH) throw new TypeError(`path is not absolute: ${nativePathText(path)}`);
  if (path.includes(0)) return toOpaque(path);
  const href = LOCAL_PREFIX + protectDots(encodePercent(path));
  return DRIVE.test(href) ? toOpaque(path) : href;
}

/**
 * A path with `.` and `..` segments keeps them only as part of a longer segment, because the URL parser resolves them
 * without asking the file system: its inner slashes are escaped.
 */
function protectDots(path: string): string {
  const segments = path.slice(1).split('/');
  if (!segments.includes('.') && !segments.includes('..')) return path;
  return segments.length === 1 ? '/' : `/${segments.join('%2F')}`;
}

function encodePercent(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) {
    const plain = byte > 0x20 && byte < 0x7f && !ESCAPED_CHARACTERS.has(byte);
    text += plain ? String.fromCharCode(byte) : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return text;
}

function decodePercent(text: string): Uint8Array<ArrayBuffer> {
  const encoded = new TextEncoder().encode(text);
  const bytes = new Uint8Array(encoded.length);
  let length = 0;
  for (let i = 0; i < encoded.length; i++) {
    const byte = encoded[i] as number;
    const digits = byte === PERCENT ? text.slice(i + 1, i + 3) : '';
    if (/^[0-9a-fA-F]{2}$/.test(digits)) {
      bytes[length++] = Number.parseInt(digits, 16);
      i += 2;
    } else {
      bytes[length++] = byte;
    }
  }
  return bytes.slice(0, length);
}

function toOpaque(path: Uint8Array): string {
  const base64url = encodeBase64(path).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
  return OPAQUE_PREFIX + base64url;
}

function decodeOpaque(href: string): Uint8Array<ArrayBuffer> | undefined {
  const base64url = OPAQUE_URI.exec(href)?.[1];
  if (base64url === undefined) return undefined;
  const base64 = base64url.replaceAll('-', '+').replaceAll('_', '/');
  const padded = base64.padEnd(Math.ceil(base64.length / 4) * 4, '=');
  return checkBase64(padded) === undefined ? decodeBase64(padded) : undefined;
}

/** A path as text for people; bytes that are no UTF-8 become U+FFFD. */
export function nativePathText(path: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(path);
}
