import { nativeToPathUri } from '@exec-server/protocol';

/** Members of params that are paths, or lists of them, in every method that has them. */
const PATH_MEMBERS: ReadonlySet<string> = new Set([
  'cwd',
  'destinationPath',
  'missing',
  'path',
  'present',
  'sourcePath',
]);

/**
 * Params in which absolute paths are `file:` URIs, made from those of the generation before, which sent them as they
 * are. Its clients name their members; relative paths are left to be refused.
 */
export function acceptNativePaths(params: unknown): unknown {
  if (typeof params !== 'object' || params === null || Array.isArray(params)) return params;
  return Object.fromEntries(
    Object.entries(params).map(([name, value]) => [name, PATH_MEMBERS.has(name) ? toUris(value) : value]),
  );
}

function toUris(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toUris);
  return typeof value === 'string' && value.startsWith('/') ? nativeToPathUri(value) : value;
}
