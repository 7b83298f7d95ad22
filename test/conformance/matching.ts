import { ERROR_REASONS, readErrorReason } from '@exec-server/protocol';
import type { WireMessage } from '@exec-server/testing';
import type { Bindings } from './placeholders.js';

/** Decode errors are worded by the decoder; clients go by the code. */
const INVALID_PARAMS = -32602;
/** The id of the answer to a message that could not be parsed at all. */
const UNPARSABLE_ID = -1;

/** What differs, one text per place; empty when `actual` is what was recorded. */
export function compareValues(expected: unknown, actual: unknown, bindings: Bindings, path = ''): string[] {
  if (typeof expected === 'string') {
    return bindings.matches(expected, actual) ? [] : [mismatch(path, bindings.fillText(expected), actual)];
  }
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual) || actual.length !== expected.length)
      return [mismatch(path, expected, actual)];
    return expected.flatMap((item, index) =>
      compareValues(item, actual[index], bindings, `${path}[${index}]`),
    );
  }
  if (isObject(expected)) {
    if (!isObject(actual)) return [mismatch(path, expected, actual)];
    const names = new Set([...Object.keys(expected), ...Object.keys(actual)]);
    return [...names].flatMap((name) =>
      compareValues(expected[name], actual[name], bindings, path === '' ? name : `${path}.${name}`),
    );
  }
  return expected === actual ? [] : [mismatch(path, expected, actual)];
}

/** Compares an answer to `method` by what clients may rely on. */
export function compareResponse(
  method: string | undefined,
  expected: WireMessage,
  actual: WireMessage,
  bindings: Bindings,
): string[] {
  if (expected.error !== undefined && actual.error !== undefined && isFreelyWorded(expected)) {
    return compareValues(expected.error.code, actual.error.code, bindings, 'error.code');
  }
  if (expected.result === undefined || actual.result === undefined) {
    return compareValues(expected, withoutReason(actual), bindings);
  }
  const shape = RESULT_SHAPES[method ?? ''];
  if (shape === undefined) return compareValues(expected, actual, bindings);
  return compareValues(shape(expected.result), shape(actual.result), bindings, 'result');
}

/** The recorded server sends no `data`; ours names the failure in it. */
function withoutReason(message: WireMessage): WireMessage {
  const { error } = message;
  const reason = readErrorReason(error?.data);
  if (error === undefined || reason === undefined || !(reason in ERROR_REASONS)) return message;
  const { data: _data, ...rest } = error;
  return { ...message, error: rest };
}

function isFreelyWorded(message: WireMessage): boolean {
  return message.id === UNPARSABLE_ID || message.error?.code === INVALID_PARAMS;
}

type Shape = (result: Record<string, unknown>) => unknown;

/** Results of which only a part is the same on every machine, reduced to that part. */
const RESULT_SHAPES: Readonly<Record<string, Shape>> = {
  initialize: (result) => ({ ...result, environmentInfo: shapeOfEnvironmentInfo(result.environmentInfo) }),
  'environment/info': shapeOfEnvironmentInfo,
  // Process ids are members of our own.
  'process/start': (result) => omit(result, 'pid'),
  'process/terminate': (result) => omit(result, 'pids'),
  'fs/readDirectory': ({ entries, ...rest }) => ({ ...rest, entries: sortByName(entries) }),
  // Every server has settings of its own.
  'config/read': ({ config, origins, layers, ...rest }) => ({
    ...rest,
    config: hasSettingNames(config),
    origins: isObject(origins) && Object.values(origins).every(isVersioned),
    layers: Array.isArray(layers) ? layers.map(shapeOfLayer) : layers,
  }),
  // What a directory's size means is up to the file system.
  'fs/getMetadata': (result) =>
    result.isDirectory === true ? { ...result, size: typeof result.size } : result,
};

/** Whether these are settings; the recordings only say that they were. */
function hasSettingNames(config: unknown): boolean {
  if (typeof config === 'string') return config.endsWith('snake_case keys>');
  return isObject(config) && Object.keys(config).every((name) => /^[a-z0-9_]+$/.test(name));
}

/** Which kind of source it is, and whether it is told of as it should be. */
function shapeOfLayer(layer: unknown): unknown {
  if (!isObject(layer) || !isObject(layer.name)) return layer;
  return { type: layer.name.type, isVersioned: isVersioned(layer), config: hasSettingNames(layer.config) };
}

function isVersioned(value: unknown): boolean {
  if (!isObject(value) || !isObject(value.name)) return false;
  return typeof value.name.type === 'string' && /^sha256:[0-9a-f]{64}$/.test(String(value.version));
}

function omit(result: Record<string, unknown>, name: string): Record<string, unknown> {
  return Object.fromEntries(Object.entries(result).filter(([member]) => member !== name));
}

/** Versions, tool directories, the login shell and capabilities are the server's own; their types are not. */
function shapeOfEnvironmentInfo(info: unknown): unknown {
  if (!isObject(info)) return info;
  const { shell, executorVersion, providerId, prependPathDirs, capabilities, ...rest } = info;
  return {
    ...rest,
    shell: isObject(shell) ? typesOf(shell) : shell,
    executorVersion: typeof executorVersion,
    providerId: typeof providerId,
    prependPathDirs:
      Array.isArray(prependPathDirs) && prependPathDirs.every(isFileUri) ? 'file URIs' : prependPathDirs,
    capabilities: isObject(capabilities) ? typesOf(capabilities) : capabilities,
  };
}

function typesOf(value: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, typeof member]));
}

function isFileUri(value: unknown): boolean {
  return typeof value === 'string' && value.startsWith('file://');
}

function sortByName(entries: unknown): unknown {
  if (!Array.isArray(entries)) return entries;
  return entries.toSorted((left: { fileName: string }, right: { fileName: string }) =>
    left.fileName < right.fileName ? -1 : 1,
  );
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function mismatch(path: string, expected: unknown, actual: unknown): string {
  return `${path === '' ? 'message' : path}: expected ${show(expected)}, got ${show(actual)}`;
}

function show(value: unknown): string {
  return value === undefined ? 'nothing' : JSON.stringify(value);
}
