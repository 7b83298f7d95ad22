import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';

export interface Upstream extends AsyncDisposable {
  readonly port: number;
}

/** Pause between the two parts of `/slow`, in milliseconds: longer than the timeout of the recorded request. */
const SLOW_PAUSE_MS = 800;

/** The HTTP server that the recorded requests talked to. */
export async function startUpstream(): Promise<Upstream> {
  const server = createServer((request, response) => {
    void answer(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://upstream');
  switch (url.pathname) {
    case '/echo':
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(await describe(request)));
      return;
    case '/redir':
      response.writeHead(Number(url.searchParams.get('s') ?? 302), { location: '/echo' });
      response.write('redirbody');
      response.end();
      return;
    case '/204':
      response.writeHead(204);
      response.end();
      return;
    case '/multi':
      response.writeHead(418, { 'x-multi': ['1', '2'] });
      response.end();
      return;
    case '/slow':
      response.writeHead(200);
      response.write('part1');
      await delay(SLOW_PAUSE_MS);
      response.end('part2');
      return;
    case '/reset':
      response.writeHead(200, { 'content-length': '100' });
      response.write('part', () => response.socket?.end());
      return;
    default:
      response.writeHead(404).end();
  }
}

/** What a request looked like on arrival, without the one header that names the port. */
async function describe(request: IncomingMessage): Promise<object> {
  const { host: _, ...headers } = request.headersDistinct;
  return { method: request.method, headers, body: await text(request) };
}
