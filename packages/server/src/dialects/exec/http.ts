import {
  type HttpCancelParams,
  type HttpCancelResult,
  type HttpRequestParams,
  type HttpRequestResult,
  internalError,
  invalidParams,
  overloaded,
  type RpcError,
} from '@exec-server/protocol';
import { type ActiveRequest, ActiveRequests } from '../../http/active-requests.js';
import type { HttpResponse } from '../../http/exchange.js';
import { HttpError } from '../../http/http-error.js';
import { type OutgoingRequest, prepareRequest } from '../../http/prepare-request.js';
import { collectBody, streamBody } from '../../http/read-body.js';
import type { HandlerContext } from '../dialect.js';
import { toBuffer } from '../file-content.js';
import { JsonBodySink } from './json-body-sink.js';

export async function requestHttp(
  params: HttpRequestParams,
  context: HandlerContext,
): Promise<HttpRequestResult> {
  const { engine, connection } = context;
  const { requestId, streamResponse: streamed = false, timeoutMs } = params;
  try {
    const outgoing = toOutgoing(params, context);
    const options = { requestId, streamed, timeoutMs: timeoutMs ?? undefined, clock: engine.clock };
    const request = connection.keep(ActiveRequests).begin(options, engine.limits);
    const send = () =>
      engine.httpClient.send(outgoing, {
        followRedirects: params.redirectPolicy !== 'stop',
        signal: request.signal,
      });
    return await (streamed ? answerThenStream(request, send, context) : answerWhole(request, send, context));
  } catch (error) {
    throw error instanceof HttpError ? httpErrorToRpc(error) : error;
  }
}

export function cancelHttp(
  { requestId }: HttpCancelParams,
  { connection }: HandlerContext,
): HttpCancelResult {
  return { cancelled: connection.keep(ActiveRequests).cancel(requestId) };
}

function toOutgoing(params: HttpRequestParams, { engine, content }: HandlerContext): OutgoingRequest {
  const { method, url, headers = [], bodyBase64 } = params;
  const body = toBuffer(content) ?? Buffer.from(bodyBase64 ?? '', 'base64');
  const specs = headers.map(({ name, value, valueEnvVar }) => ({
    name,
    value,
    valueEnvVar: valueEnvVar ?? undefined,
  }));
  return prepareRequest({ method, url, headers: specs, body }, engine.serverEnv);
}

async function answerWhole(
  request: ActiveRequest,
  send: () => Promise<HttpResponse>,
  { place }: HandlerContext,
): Promise<HttpRequestResult> {
  const receive = async () => {
    const response = await send();
    return toResult(response, await collectBody(response.body, request));
  };
  try {
    return await place.park(receive());
  } finally {
    request.end();
  }
}

async function answerThenStream(
  request: ActiveRequest,
  send: () => Promise<HttpResponse>,
  { place, connection }: HandlerContext,
): Promise<HttpRequestResult> {
  try {
    const response = await place.park(send());
    const sink = new JsonBodySink(connection, request.requestId);
    // The answer is sent before anything but promises gets a turn, so no piece of the body comes before it.
    setImmediate(() => void streamBody(response.body, sink, request));
    return toResult(response, Buffer.alloc(0));
  } catch (error) {
    request.end();
    throw error;
  }
}

function toResult({ status, headers }: HttpResponse, body: Buffer): HttpRequestResult {
  return {
    status,
    headers: headers.map(([name, value]) => ({ name, value })),
    bodyBase64: body.toString('base64'),
  };
}

function httpErrorToRpc({ failure, message }: HttpError): RpcError {
  switch (failure) {
    case 'refused':
      return invalidParams(`http/request ${message}`);
    case 'overloaded':
      return overloaded(`http/request: ${message}`);
    case 'no-response':
    case 'cancelled':
      return internalError(`http/request failed: ${message}`, 'http_failed');
    case 'body':
    case 'body-too-large':
      return internalError(`failed to read http/request response body: ${message}`, 'http_failed');
  }
}
