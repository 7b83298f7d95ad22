import * as z from 'zod/mini';
import { describeValue } from './describe.js';
import { MalformedMessageError } from './errors.js';
import { integer, text } from './fields.js';
import { JsonSyntaxError, scanJson } from './json-scan.js';
import { MAX_JSON_DEPTH } from './limits.js';
import { decodeResult, nullable, struct } from './struct.js';

/** A string or a signed 64-bit integer; a bigint only where a number would lose digits. */
export type RequestId = string | number | bigint;

/** W3C trace context of the caller. */
export const TraceContext = struct('W3cTraceContext', {
  traceparent: nullable(text('W3C `traceparent` header.'), { omittable: true }),
  tracestate: nullable(text('W3C `tracestate` header.'), { omittable: true }),
});
export type TraceContext = z.output<typeof TraceContext>;

/** The `error` member of a response. */
export const ErrorObject = struct('JSONRPCErrorError', {
  code: integer('i64', 'Error code.'),
  data: nullable(z.unknown()),
  message: text('What went wrong.'),
});
export type ErrorObject = z.output<typeof ErrorObject>;

export interface RequestMessage {
  readonly kind: 'request';
  readonly id: RequestId;
  readonly method: string;
  readonly params: unknown;
  readonly trace?: TraceContext;
  /** Bytes that came as base64 in a member of `params`, decoded by whoever read the message; an empty string is there. */
  readonly content?: Uint8Array<ArrayBuffer>;
  /** Why it is refused whatever it asks for: what in it is too large to be kept, in words. */
  readonly excess?: string;
}

export interface NotificationMessage {
  readonly kind: 'notification';
  readonly method: string;
  readonly params: unknown;
}

export interface ResponseMessage {
  readonly kind: 'response';
  readonly id: RequestId;
  readonly result: unknown;
}

export interface ErrorMessage {
  readonly kind: 'error';
  readonly id: RequestId;
  readonly error: ErrorObject;
}

export type Message = RequestMessage | NotificationMessage | ResponseMessage | ErrorMessage;

const MIN_I64 = -(2n ** 63n);
const MAX_I64 = 2n ** 63n - 1n;
const INTEGER = /^-?[0-9]+$/;

/**
 * Decodes one message. Its kind follows from the members that are there; `jsonrpc` and unknown members are ignored.
 * Absent `params` are `undefined`.
 *
 * @throws MalformedMessageError
 */
export function decodeMessage(source: string): Message {
  const { value, idText } = parseJson(source);
  return interpretMessage(value, idText);
}

/**
 * The message that a JSON value is. `idText` is its member `id` as it was spelled.
 *
 * @throws MalformedMessageError
 */
export function interpretMessage(value: unknown, idText: string | undefined): Message {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new MalformedMessageError('expected a JSON-RPC object');
  }
  const { id, method, params, result, error, trace } = value as Record<string, unknown>;
  if (method !== undefined) {
    if (id === undefined) return { kind: 'notification', method: checkMethod(method), params };
    const request = {
      kind: 'request',
      id: checkId(id, idText),
      method: checkMethod(method),
      params,
    } as const;
    if (trace === undefined || trace === null) return request;
    return { ...request, trace: decodeResult(TraceContext, trace) };
  }
  if (result !== undefined) return { kind: 'response', id: checkId(id, idText), result };
  if (error === undefined) throw new MalformedMessageError('missing field `error`');
  return { kind: 'error', id: checkId(id, idText), error: decodeResult(ErrorObject, error) };
}

function parseJson(source: string): { value: unknown; idText: string | undefined } {
  const plain = parsePlain(source);
  if (plain !== undefined) return plain;
  try {
    const { idText } = scanJson(source, { longStrings: 'skip' });
    return { value: parseScanned(source), idText };
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    throw new MalformedMessageError(error.message, { cause: error });
  }
}

/** Longest text that is compared with what its value is written as, in characters. */
const MAX_PLAIN_CHARS = 16_384;

/**
 * Reads text that is exactly what `JSON.stringify` writes for its value, as most clients send it; nothing for all other
 * text. Such text has no key twice and every number in full, so that of all that the scan checks only the depth is left.
 * Both calls are native, which for a short message among other work takes a third of the time of the scan.
 */
function parsePlain(source: string): { value: unknown; idText: string | undefined } | undefined {
  // An escape may be one half of a surrogate pair, which would be written again as it is.
  if (source.length > MAX_PLAIN_CHARS || source.includes('\\') || mayBeTooDeep(source)) return undefined;
  let value: { readonly id?: unknown } | null;
  try {
    value = JSON.parse(source);
  } catch {
    return undefined;
  }
  if (JSON.stringify(value) !== source) return undefined;
  const id = value?.id;
  return { value, idText: typeof id === 'number' ? String(id) : undefined };
}

/** Whether there are more brackets, in strings or not, than levels are allowed. */
function mayBeTooDeep(source: string): boolean {
  let brackets = 0;
  for (const bracket of '{[') {
    for (let at = source.indexOf(bracket); at !== -1; at = source.indexOf(bracket, at + 1)) {
      brackets += 1;
      if (brackets > MAX_JSON_DEPTH) return true;
    }
  }
  return false;
}

function parseScanned(source: string): unknown {
  try {
    return JSON.parse(source);
  } catch (error) {
    // Only a control character in a long string gets here; the thorough scan finds it and says where.
    scanJson(source);
    throw error;
  }
}

function checkMethod(method: unknown): string {
  if (typeof method === 'string') return method;
  throw new MalformedMessageError(`invalid type: ${describeValue(method)}, expected a string`);
}

function checkId(id: unknown, idText: string | undefined): RequestId {
  if (typeof id === 'string') return id;
  if (id === undefined) throw new MalformedMessageError('missing field `id`');
  if (typeof id === 'number' && idText !== undefined && INTEGER.test(idText)) {
    // Adding zero turns -0, which is an integer like any other here, into 0.
    if (Number.isSafeInteger(id)) return id + 0;
    const exact = BigInt(idText);
    if (exact >= MIN_I64 && exact <= MAX_I64) return exact;
  }
  throw new MalformedMessageError('data did not match any variant of untagged enum RequestId');
}

/** An id as JSON text. */
export function formatRequestId(id: RequestId): string {
  return typeof id === 'string' ? JSON.stringify(id) : String(id);
}

export function encodeRequest(id: RequestId, method: string, params: unknown, trace?: TraceContext): string {
  const head = `{"id":${formatRequestId(id)},"method":${JSON.stringify(method)}${paramsMember(params)}`;
  return trace === undefined ? `${head}}` : `${head},"trace":${JSON.stringify(trace)}}`;
}

export function encodeNotification(method: string, params: unknown): string {
  return `{"method":${JSON.stringify(method)}${paramsMember(params)}}`;
}

function paramsMember(params: unknown): string {
  return params === undefined ? '' : `,"params":${JSON.stringify(params)}`;
}

/** Encodes a response. A result of `undefined` goes out as `null`: without the member it would read as an error. */
export function encodeResult(id: RequestId, result: unknown): string {
  return `{"id":${formatRequestId(id)},"result":${JSON.stringify(result) ?? 'null'}}`;
}

export function encodeError(id: RequestId, error: ErrorObject): string {
  const data = error.data === undefined ? '' : `"data":${JSON.stringify(error.data)},`;
  const members = `"code":${error.code},${data}"message":${JSON.stringify(error.message)}`;
  return `{"error":{${members}},"id":${formatRequestId(id)}}`;
}

/** The whole text of an error about a message that cannot be understood. */
export function parseErrorText(
  framing: 'websocket' | 'lines' | 'memory',
  label: string,
  detail: string,
): string {
  const kind = framing === 'websocket' ? 'websocket JSON-RPC' : 'JSON-RPC';
  return `failed to parse ${kind} message from ${label}: ${detail}`;
}
