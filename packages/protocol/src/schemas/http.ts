import * as z from 'zod/mini';
import { base64, describe, flag, integer, list, oneOf, text } from '../fields.js';
import { defaulted, nullable, struct } from '../struct.js';

export const HttpRequestHeader = struct('HttpHeader', {
  name: text('Name of the header.'),
  value: text('Its value.'),
  valueEnvVar: nullable(text("Variable of the server's environment to append to the value."), {
    omittable: true,
  }),
});
export type HttpRequestHeader = z.output<typeof HttpRequestHeader>;

export const HttpRequestParams = struct('HttpRequestParams', {
  method: text('HTTP method.'),
  url: text('Absolute `http:` or `https:` URL.'),
  headers: defaulted(list(HttpRequestHeader, 'Headers, in order; repeats are kept.')),
  bodyBase64: nullable(base64('Body.'), { omittable: true }),
  timeoutMs: nullable(integer('u64', 'Limit for headers and body, in milliseconds. Default: none.'), {
    omittable: true,
  }),
  redirectPolicy: defaulted(oneOf(['follow', 'stop'], 'What to do about redirects. Default: `follow`.')),
  requestId: text('Key of the body stream, unique among the active ones of the connection.'),
  streamResponse: defaulted(flag('Answer with the headers and send the body as deltas. Default: false.')),
});
export type HttpRequestParams = z.output<typeof HttpRequestParams>;

export const HttpResponseHeader = struct('HttpHeader', {
  name: text('Name of the header.'),
  value: text('Its value.'),
});
export type HttpResponseHeader = z.output<typeof HttpResponseHeader>;

export const HttpRequestResult = struct('HttpRequestResponse', {
  status: integer('u16', 'Status code.'),
  headers: list(HttpResponseHeader, 'Headers, in order; repeats are kept.'),
  bodyBase64: base64('Body; empty when it is streamed.'),
});
export type HttpRequestResult = z.output<typeof HttpRequestResult>;

export const HttpCancelParams = struct('HttpCancelParams', {
  requestId: text('The request or requests to end.'),
});
export type HttpCancelParams = z.output<typeof HttpCancelParams>;

export const HttpCancelResult = struct('HttpCancelResponse', {
  cancelled: flag('Whether there was such a request.'),
});
export type HttpCancelResult = z.output<typeof HttpCancelResult>;

export const HttpBodyDeltaNotification = struct('HttpRequestBodyDeltaNotification', {
  requestId: text('The request.'),
  seq: integer('u64', 'Number of the piece, from 1.'),
  deltaBase64: base64('The next bytes of the body, at most 1 MiB.'),
  done: flag('The body ends here.'),
  error: describe(z.nullable(text()), 'Why the body ended early.'),
});
export type HttpBodyDeltaNotification = z.output<typeof HttpBodyDeltaNotification>;
