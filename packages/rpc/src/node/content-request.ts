import {
  decodeMessage,
  MalformedMessageError,
  type Message,
  type RequestMessage,
} from '@exec-server/protocol';
import { decodeBase64Strictly } from './decode-base64-strictly.js';

/** Shortest string that is taken for content, in bytes. */
const MIN_CONTENT_BYTES = 32 * 1024;

/** Most bytes before the content and after it. */
const MAX_REST_BYTES = 4096;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** What stands in for the content: a string of one NUL, which JSON cannot spell without a backslash. */
const STAND_IN = '\0';
const STAND_IN_LITERAL = '\\u0000';

/** Which request carries content, and as which member of its params. */
export interface ContentMember {
  readonly method: string;
  readonly member: string;
}

/**
 * Reads a request most of which is one long base64 string, given as valid UTF-8. The string is decoded from where it
 * stands; read like every message it would be copied into a string, and again by the parser. Nothing for messages that
 * are anything else, broken ones included: those are read like every message.
 */
export function readContentRequest(
  utf8: Uint8Array,
  { method, member }: ContentMember,
): RequestMessage | undefined {
  const bytes = Buffer.from(utf8.buffer, utf8.byteOffset, utf8.byteLength);
  const span = findLongString(bytes);
  if (span === undefined) return undefined;
  const head = bytes.toString('utf8', 0, span.start);
  const message = decodeOrNothing(`${head}${STAND_IN_LITERAL}${bytes.toString('utf8', span.end)}`);
  if (message?.kind !== 'request' || message.method !== method) return undefined;
  const { params } = message;
  // No string but the one that was cut out has a NUL in it, so this is its place.
  if (!isRecord(params) || !Object.hasOwn(params, member) || params[member] !== STAND_IN) return undefined;
  const content = decodeBase64Strictly(bytes.subarray(span.start, span.end));
  return content && { ...message, params: { ...params, [member]: '' }, content };
}

interface Span {
  readonly start: number;
  readonly end: number;
}

/** The inside of the first long string of a JSON text; nothing where its rest is long, or has a backslash anywhere. */
function findLongString(bytes: Buffer): Span | undefined {
  for (let at = 0; ; ) {
    const start = bytes.indexOf(QUOTE, at) + 1;
    if (start === 0 || start > MAX_REST_BYTES) return undefined;
    const end = bytes.indexOf(QUOTE, start);
    if (end === -1) return undefined;
    if (end - start >= MIN_CONTENT_BYTES) return isPlainRest(bytes, start, end) ? { start, end } : undefined;
    at = end + 1;
  }
}

/** Without a backslash every quote begins or ends a string. One in the string itself is found by who decodes it. */
function isPlainRest(bytes: Buffer, start: number, end: number): boolean {
  if (bytes.length - end > MAX_REST_BYTES) return false;
  return !bytes.subarray(0, start).includes(BACKSLASH) && !bytes.subarray(end).includes(BACKSLASH);
}

function decodeOrNothing(text: string): Message | undefined {
  try {
    return decodeMessage(text);
  } catch (error) {
    if (error instanceof MalformedMessageError) return undefined;
    throw error;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
