import { nativePathText, nativeToPathUri, pathUriToNative } from '@exec-server/protocol';
import { ExecServerError } from '../errors.js';

/**
 * A path on the server's host: absolute, as text, as bytes (for names that are no UTF-8) or as a `file:` URL. Relative
 * paths are refused, because nothing says what they would be relative to.
 */
export type RemotePath = string | URL | Uint8Array;

const SLASH = 0x2f;

/** A component that does not stay: none at all, `.` or `..`. */
const PASSING_COMPONENT = /\/\.{0,2}(?:\/|$)/;

/** The path as it goes over the wire. Throws `usage` for what names no absolute path. */
export function toPathUri(path: RemotePath): string {
  try {
    if (path instanceof URL || (typeof path === 'string' && path.startsWith('file:'))) {
      return nativeToPathUri(resolveBytes(pathUriToNative(String(path))));
    }
    return nativeToPathUri(typeof path === 'string' ? resolveDots(path) : resolveBytes(path));
  } catch (cause) {
    throw new ExecServerError('usage', `not an absolute path: ${describePath(path)}`, { cause });
  }
}

/** A path of the wire as text for people; bytes that are no UTF-8 become U+FFFD. */
export function toNativeText(uri: string): string {
  return nativePathText(pathUriToNative(uri));
}

/** The path of an entry of a directory, both as they go over the wire. */
export function toChildUri(directoryUri: string, name: string): string {
  const directory = pathUriToNative(directoryUri);
  return join(directory, directory.at(-1) === SLASH ? name : `/${name}`);
}

/** The path of another entry of the directory that a path is in. */
export function toSiblingUri(uri: string, name: string): string {
  const path = pathUriToNative(uri);
  return join(path.subarray(0, path.lastIndexOf(SLASH)), `/${name}`);
}

function join(head: Uint8Array, tail: string): string {
  const encoded = new TextEncoder().encode(tail);
  const path = new Uint8Array(head.length + encoded.length);
  path.set(head);
  path.set(encoded, head.length);
  return nativeToPathUri(path);
}

/** Resolves `.` and `..` by their text, as the server does it, so that every directory of the path can be told. */
function resolveDots(path: string): string {
  if (!path.startsWith('/') || !PASSING_COMPONENT.test(path)) return path;
  const kept: string[] = [];
  for (const component of path.split('/')) {
    if (component === '..') kept.pop();
    else if (component !== '' && component !== '.') kept.push(component);
  }
  return `/${kept.join('/')}`;
}

function resolveBytes(path: Uint8Array): Uint8Array {
  // One character for each byte: nothing but slashes and dots has a meaning here.
  const text = Array.from(path, (byte) => String.fromCharCode(byte)).join('');
  return Uint8Array.from(resolveDots(text), (character) => character.charCodeAt(0));
}

function describePath(path: RemotePath): string {
  return path instanceof Uint8Array ? nativePathText(path) : String(path);
}
