import { readHeaderVariable, type ServerEnv } from './header-env-vars.js';
import { basicCredentials, type Header, hasHeader } from './header-list.js';
import { HttpError } from './http-error.js';
import { parseHttpUrl } from './parse-url.js';

/** A request as a caller words it. */
export interface HttpRequestSpec {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly HeaderSpec[];
  readonly body: Buffer;
}

export interface HeaderSpec {
  readonly name: string;
  readonly value: string;
  /** Variable of the server's environment to append to the value. */
  readonly valueEnvVar?: string | undefined;
}

/** A request that may be sent. */
export interface OutgoingRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: readonly Header[];
  readonly body: Buffer;
}

/** A method or a header name: one or more visible characters that separate nothing. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/i;

/** Characters of a header value: none that would end it and so let a value write headers of its own. */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\u{10ffff}]*$/u;

/** Checks a request and fills in variables. Throws an {@link HttpError}. */
export function prepareRequest(spec: HttpRequestSpec, env: ServerEnv): OutgoingRequest {
  if (!TOKEN.test(spec.method)) throw new HttpError('refused', 'method is invalid: invalid HTTP method');
  const url = parseHttpUrl(spec.url);
  const headers = spec.headers.map((header) => prepareHeader(header, env));
  const credentials = basicCredentials(url);
  if (credentials !== undefined && !hasHeader(headers, 'authorization'))
    headers.push(['authorization', credentials]);
  return { method: spec.method, url, headers, body: spec.body };
}

function prepareHeader({ name, value, valueEnvVar }: HeaderSpec, env: ServerEnv): Header {
  if (!TOKEN.test(name)) throw new HttpError('refused', 'header name is invalid: invalid HTTP header name');
  const text = valueEnvVar === undefined ? value : value + readHeaderVariable(name, valueEnvVar, env);
  if (!HEADER_VALUE.test(text))
    throw new HttpError('refused', `header value is invalid for ${name}: failed to parse header value`);
  return [name.toLowerCase(), Buffer.from(text).toString('latin1')];
}
