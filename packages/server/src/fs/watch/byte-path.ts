/**
 * An absolute path, or a name, as text with one character per byte. Any name that a file system holds survives, and
 * unlike bytes it can be compared, joined and used as a key.
 */
export type BytePath = string;

export function toBytePath(bytes: Uint8Array): BytePath {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}

export function toPathBytes(path: BytePath): Buffer {
  return Buffer.from(path, 'latin1');
}

/** `name` in `directory`; an empty name is the directory itself. */
export function joinBytePath(directory: BytePath, name: BytePath): BytePath {
  if (name === '') return directory;
  return directory.endsWith('/') || directory === '' ? directory + name : `${directory}/${name}`;
}

/** The directory that holds `path`; the root holds itself. */
export function parentOf(path: BytePath): BytePath {
  return path.slice(0, path.lastIndexOf('/')) || '/';
}

/** The components of a path, without those that mean nothing. */
export function splitBytePath(path: BytePath): BytePath[] {
  return path.split('/').filter((name) => name !== '' && name !== '.');
}
