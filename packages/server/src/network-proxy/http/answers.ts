import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type AccessRequest, type Denial, explainDenial } from '../decision.js';
import { sayLast } from '../join-sockets.js';

/** Tells a program in JSON that and why its request was stopped here. */
export function answerDenied(response: ServerResponse, request: AccessRequest, denial: Denial): void {
  const { code, message } = explainDenial(denial.reason);
  const { host, protocol, port } = request;
  const { reason, decision, source } = denial;
  const body = JSON.stringify({ status: 'blocked', host, reason, decision, source, protocol, port, message });
  response.writeHead(403, {
    'content-type': 'application/json',
    'x-proxy-error': code,
    'content-length': Buffer.byteLength(body),
  });
  response.end(body);
}

export function answerText(response: ServerResponse, status: number, text: string): void {
  // What follows of a request that is not read must not be taken for another one.
  if (!response.req.complete) response.setHeader('connection', 'close');
  response.writeHead(status, { 'content-type': 'text/plain', 'content-length': Buffer.byteLength(text) });
  response.end(text);
}

/** Answers a CONNECT with words instead of a connection. */
export function answerConnect(
  socket: Socket,
  status: '400 Bad Request' | '403 Forbidden' | '502 Bad Gateway',
  text: string,
  code?: string,
): void {
  const head = [
    `HTTP/1.1 ${status}`,
    'content-type: text/plain',
    ...(code === undefined ? [] : [`x-proxy-error: ${code}`]),
    `content-length: ${Buffer.byteLength(text)}`,
    'connection: close',
  ];
  sayLast(socket, `${head.join('\r\n')}\r\n\r\n${text}`);
}
