import { nativePathText, nativeToPathUri } from '@exec-server/protocol';
import { joinPath } from './native-path.js';

/** A directory that segments cannot be appended to: the root, below which some names need another form. */
const ROOT_URI = 'file:///';

/** Prefix of URIs that carry a whole path in one piece. */
const OPAQUE_PREFIX = 'file:///%00/';

/** Any directory but the root: a name in it is one segment, whatever it looks like. */
const SOME_DIRECTORY = '/-/';
const SOME_DIRECTORY_URI = nativeToPathUri(SOME_DIRECTORY);

/**
 * The URI of an entry of a directory, spelled below the directory's own: what the client called the directory stays
 * recognizable. Bytes of the name that are no UTF-8 are replaced.
 */
export function childUri(parent: { readonly path: Buffer; readonly uri: string }, name: Buffer): string {
  const text = nativePathText(name);
  if (parent.uri === ROOT_URI || parent.uri.startsWith(OPAQUE_PREFIX))
    return nativeToPathUri(joinPath(parent.path, Buffer.from(text)));
  const segment = nativeToPathUri(SOME_DIRECTORY + text).slice(SOME_DIRECTORY_URI.length);
  return parent.uri.endsWith('/') ? parent.uri + segment : `${parent.uri}/${segment}`;
}
