import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { HttpClient } from '../../src/http/http-client.js';
import { prepareRequest } from '../../src/http/prepare-request.js';
import { TEST_CERTIFICATE } from '../listen/tls-fixture.js';
import { bodyText } from '../support/body-text.js';
import { type Origin, respond, startOrigin } from '../support/origin.js';

async function send(
  url: string,
  env: Record<string, string>,
  headers: { name: string; value: string }[] = [],
) {
  const request = prepareRequest({ method: 'GET', url, headers, body: Buffer.alloc(0) }, {});
  const signal = AbortSignal.timeout(10_000);
  const { status, body } = await new HttpClient(env).send(request, { followRedirects: true, signal });
  return { status, text: await bodyText(body) };
}

/** A file with the certificate of the tests. */
function certificateFile(): string {
  const directory = mkdtempSync(join(tmpdir(), 'trust-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const file = join(directory, 'ca.pem');
  writeFileSync(file, TEST_CERTIFICATE);
  return file;
}

/** A proxy that answers by itself, and opens tunnels to whatever is asked for. */
function startProxy(tunnelTo?: () => number): Promise<Origin> {
  return startOrigin((request, socket) => {
    if (!request.startsWith('CONNECT ')) return respond(socket, 'from the proxy');
    if (tunnelTo === undefined) return respond(socket, '', '', '403 No');
    const upstream = connect(tunnelTo(), '127.0.0.1', () => {
      socket.removeAllListeners('data');
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      socket.pipe(upstream).pipe(socket);
    });
    upstream.on('error', () => socket.destroy());
  });
}

describe('encrypted', () => {
  it.each(['SSL_CERT_FILE', 'NODE_EXTRA_CA_CERTS'])('trusts the certificates in %s', async (variable) => {
    const origin = await startOrigin((_request, socket) => respond(socket, 'secret'), { tls: true });
    const env = { [variable]: certificateFile() };
    expect((await send(`https://127.0.0.1:${origin.port}/`, env)).text).toBe('secret');
    expect((await send(`https://localhost:${origin.port}/`, env)).text).toBe('secret');
  });

  it('trusts nobody else', async () => {
    const origin = await startOrigin((_request, socket) => respond(socket), { tls: true });
    const env = { NODE_EXTRA_CA_CERTS: '/nonexistent' };
    await expect(send(`https://127.0.0.1:${origin.port}/`, env)).rejects.toThrow('error sending request');
    expect(origin.requests).toEqual([]);
  });

  it('fails where the other side ends in the middle of the handshake', async () => {
    const server = createServer((socket: Socket) => socket.once('data', () => socket.end()));
    onTestFinished(() => void server.close());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    await expect(send(`https://127.0.0.1:${port}/`, {})).rejects.toThrow('error sending request');
  });
});

describe('through a proxy', () => {
  it('asks it for the whole URL', async () => {
    const proxy = await startProxy();
    const env = { HTTP_PROXY: proxy.url() };
    expect((await send('http://u:p@example.test:81/a?b#c', env)).text).toBe('from the proxy');
    expect(proxy.requests).toEqual([
      'GET http://example.test:81/a?b HTTP/1.1\r\nauthorization: Basic dTpw\r\naccept: */*\r\nhost: example.test:81\r\n\r\n',
    ]);
  });

  it('says who it is, unless the caller does', async () => {
    const proxy = await startProxy();
    const env = { HTTP_PROXY: `http://us%40:pw@127.0.0.1:${proxy.port}` };
    await send('http://example.test/', env);
    await send('http://example.test/', env, [{ name: 'Proxy-Authorization', value: 'mine' }]);
    expect(proxy.requests).toEqual([
      'GET http://example.test/ HTTP/1.1\r\naccept: */*\r\nproxy-authorization: Basic dXNAOnB3\r\nhost: example.test\r\n\r\n',
      'GET http://example.test/ HTTP/1.1\r\nproxy-authorization: mine\r\naccept: */*\r\nhost: example.test\r\n\r\n',
    ]);
  });

  it('names hosts in ASCII', async () => {
    const proxy = await startProxy();
    await send('http://bücher.test/', { HTTP_PROXY: proxy.url() });
    expect(proxy.requests[0]).toContain('GET http://xn--bcher-kva.test/ HTTP/1.1\r\n');
  });

  it('encrypts end to end', async () => {
    const origin = await startOrigin((_request, socket) => respond(socket, 'secret'), { tls: true });
    const proxy = await startProxy(() => origin.port);
    const env = {
      HTTPS_PROXY: `http://u:p@127.0.0.1:${proxy.port}`,
      NODE_EXTRA_CA_CERTS: certificateFile(),
    };
    const headers = [{ name: 'Proxy-Authorization', value: 'mine' }];
    expect((await send('https://localhost/', env, headers)).text).toBe('secret');
    expect(proxy.requests[0]).toBe(
      'CONNECT localhost:443 HTTP/1.1\r\nHost: localhost:443\r\nProxy-Authorization: Basic dTpw\r\n\r\n',
    );
    expect(origin.requests[0]).toContain('GET / HTTP/1.1\r\nproxy-authorization: mine\r\n');
    await Promise.all([origin.untilAlone(), proxy.untilAlone()]);
  });

  it('that itself is encrypted', async () => {
    const proxy = await startOrigin((_request, socket) => respond(socket, 'from the proxy'), { tls: true });
    const env = { HTTP_PROXY: `https://localhost:${proxy.port}`, SSL_CERT_FILE: certificateFile() };
    expect((await send('http://example.test/', env)).text).toBe('from the proxy');
  });

  it('hands on what the proxy answers in its own name', async () => {
    const proxy = await startOrigin((_request, socket) => respond(socket, 'who?', '', '407 Who'));
    expect(await send('http://example.test/', { HTTP_PROXY: proxy.url() })).toEqual({
      status: 407,
      text: 'who?',
    });
  });

  it('fails where the proxy opens no tunnel', async () => {
    const proxy = await startProxy();
    await expect(send('https://example.test/', { HTTPS_PROXY: proxy.url() })).rejects.toThrow(
      'error sending request for url (https://example.test/)',
    );
    await proxy.untilAlone();
  });

  it('fails where the proxy speaks another protocol, without a word to it', async () => {
    const proxy = await startProxy();
    const env = { ALL_PROXY: `socks5://127.0.0.1:${proxy.port}` };
    await expect(send('http://example.test/', env)).rejects.toThrow('error sending request');
    expect(proxy.accepted).toBe(0);
  });
});

describe('an abort', () => {
  /** Takes bytes and says nothing. */
  async function startSilence(): Promise<{ port: number; heard: Promise<Socket> }> {
    const server = createServer();
    const heard = new Promise<Socket>((resolve) => {
      server.on('connection', (socket: Socket) => socket.once('data', () => resolve(socket)));
    });
    onTestFinished(() => void server.close());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return { port: (server.address() as AddressInfo).port, heard };
  }

  it.each([
    ['the handshake', (port: number) => ({ url: `https://127.0.0.1:${port}/`, env: {} })],
    [
      'the wait for a tunnel',
      (port: number) => ({ url: 'https://example.test/', env: { HTTPS_PROXY: `127.0.0.1:${port}` } }),
    ],
  ])('ends %s', async (_, plan) => {
    const { port, heard } = await startSilence();
    const { url, env } = plan(port);
    const abort = new AbortController();
    const request = prepareRequest({ method: 'GET', url, headers: [], body: Buffer.alloc(0) }, {});
    const response = new HttpClient(env).send(request, { followRedirects: true, signal: abort.signal });
    const socket = await heard;
    const ended = new Promise((resolve) => socket.on('close', resolve));
    abort.abort();
    await expect(response).rejects.toThrow('error sending request');
    await ended;
  });
});
