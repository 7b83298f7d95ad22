import type { IncomingMessage } from 'node:http';
import { type Authority, parseHostHeader } from './authority.js';
import { BadRequestError } from './bad-request.js';

/** How long a message is: nothing follows its head, so many bytes, or chunks. */
export type Framing = 'none' | 'chunked' | { readonly length: number };

/** What every request says that is passed on, whatever else it says. */
export interface RequestHead {
  /** What its `Host` says. Absent without one, as in HTTP/1.0. */
  readonly named: Authority | undefined;
  readonly framing: Framing;
}

/** What makes one message of some bytes, and says whom it is for: no matter of two neighbours. */
const NEVER_HOP_BY_HOP: readonly string[] = ['host', 'content-length', 'transfer-encoding'];

const TOKEN_LIST = /^[\w!#$%&'*+.^`|~, \t-]*$/;

/**
 * Reads what two readers of a request must not read in two ways, from its lines themselves: a header that Node has joined,
 * or left out, is no witness. Throws {@link BadRequestError}.
 * @param usualPort the port of a `Host` that names none; by default that of HTTP
 */
export function readRequestHead(
  request: Pick<IncomingMessage, 'httpVersion' | 'rawHeaders'>,
  usualPort?: number,
): RequestHead {
  const { httpVersion, rawHeaders } = request;
  if (httpVersion !== '1.1' && httpVersion !== '1.0') throw new BadRequestError('only HTTP/1 is spoken here');
  const linesOf = (name: string) =>
    rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === name);
  checkConnection(linesOf('connection'));
  return {
    named: readHost(linesOf('host'), httpVersion, usualPort),
    framing: readFraming(linesOf('content-length'), linesOf('transfer-encoding'), httpVersion),
  };
}

function checkConnection(lines: readonly string[]): void {
  const names = lines.join(',');
  if (!TOKEN_LIST.test(names)) throw new BadRequestError('invalid Connection header');
  const named = names.split(',').map((name) => name.trim().toLowerCase());
  const stolen = NEVER_HOP_BY_HOP.find((name) => named.includes(name));
  if (stolen !== undefined) throw new BadRequestError(`Connection header names ${stolen}`);
}

function readHost(
  lines: readonly string[],
  httpVersion: string,
  usualPort: number | undefined,
): Authority | undefined {
  const [value] = lines;
  if (lines.length > 1) throw new BadRequestError('more than one Host header');
  if (value === undefined) {
    if (httpVersion === '1.0') return undefined;
    throw new BadRequestError('missing host');
  }
  const authority = parseHostHeader(value, usualPort);
  if (authority === undefined) throw new BadRequestError('invalid Host header');
  return authority;
}

function readFraming(lengths: readonly string[], encodings: readonly string[], httpVersion: string): Framing {
  const [length] = lengths;
  const [encoding] = encodings;
  if (lengths.length + encodings.length > 1) throw new BadRequestError('more than one message length');
  if (encoding !== undefined) {
    // Nobody who speaks HTTP/1.0 knows chunks.
    if (encoding.toLowerCase() !== 'chunked' || httpVersion === '1.0')
      throw new BadRequestError('unsupported Transfer-Encoding');
    return 'chunked';
  }
  if (length === undefined) return 'none';
  if (!/^\d+$/.test(length) || !Number.isSafeInteger(Number(length)))
    throw new BadRequestError('invalid Content-Length');
  return { length: Number(length) };
}

/** The headers that say how long a message of a method is, as name, value. */
export function spellFraming(method: string, framing: Framing): string[] {
  if (framing === 'chunked') return ['Transfer-Encoding', 'chunked'];
  if (framing !== 'none') return ['Content-Length', `${framing.length}`];
  // For other methods Node would announce chunks by itself.
  return METHODS_WITHOUT_BODY.has(method) ? [] : ['Content-Length', '0'];
}

const METHODS_WITHOUT_BODY: ReadonlySet<string> = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS', 'TRACE']);
