const SLASH = 0x2f;
const ROOT = Buffer.from('/');
const SEPARATOR = ROOT;

/** The names that an absolute path leads through. `.` and `..` are resolved by their text, as URIs do it. */
export function splitPath(path: Uint8Array): Buffer[] {
  const components: Buffer[] = [];
  let start = 0;
  for (let end = 0; end <= path.length; end++) {
    if (end < path.length && path[end] !== SLASH) continue;
    const component = Buffer.from(path.subarray(start, end));
    start = end + 1;
    const text = component.length <= 2 ? component.toString('latin1') : '';
    if (text === '..') components.pop();
    else if (component.length > 0 && text !== '.') components.push(component);
  }
  return components;
}

/** A component that does not stay: none at all, `.` or `..`. */
const PASSING_COMPONENT = /\/\.{0,2}(?:\/|$)/;

/** The same absolute path without `.`, `..`, empty components and a trailing slash. */
export function normalizePath(path: Uint8Array): Buffer {
  const bytes = Buffer.from(path.buffer, path.byteOffset, path.byteLength);
  return PASSING_COMPONENT.test(bytes.toString('latin1')) ? joinComponents(splitPath(path)) : bytes;
}

function joinComponents(components: readonly Uint8Array[]): Buffer {
  if (components.length === 0) return ROOT;
  return Buffer.concat(components.flatMap((component) => [SEPARATOR, component]));
}

/** The path of an entry of a directory. */
export function joinPath(directory: Uint8Array, name: Uint8Array): Buffer {
  return directory.at(-1) === SLASH
    ? Buffer.concat([directory, name])
    : Buffer.concat([directory, SEPARATOR, name]);
}

/** The directory part of an absolute path, taken by its text: nothing but the last component goes. */
export function parentPath(path: Uint8Array): Buffer {
  const end = path.lastIndexOf(SLASH);
  return end <= 0 ? ROOT : Buffer.from(path.subarray(0, end));
}

/** The last component of an absolute path, taken by its text. */
export function baseName(path: Uint8Array): Buffer {
  return Buffer.from(path.subarray(path.lastIndexOf(SLASH) + 1));
}

/** Whether `path` is `directory` or below it. Both are normalized. */
export function isWithin(path: Uint8Array, directory: Uint8Array): boolean {
  if (Buffer.compare(path.subarray(0, directory.length), directory) !== 0) return false;
  return path.length === directory.length || directory.at(-1) === SLASH || path[directory.length] === SLASH;
}
