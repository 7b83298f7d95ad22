import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openProxy, talk } from '../../support/network-proxy.js';

/** What a program would like the origin to take for a request of its own. */
const SMUGGLED = 'GET /smuggled HTTP/1.1\r\nHost: denied.example\r\n\r\n';

/** An origin that puts down every byte that it gets, and answers once a request is there. */
async function recordBytes(): Promise<{ readonly port: number; readonly received: () => string }> {
  let received = '';
  const server = createServer((socket) => {
    socket.on('error', () => {});
    let isAnswered = false;
    socket.on('data', (data) => {
      received += data.toString('latin1');
      if (isAnswered || !isComplete(received)) return;
      isAnswered = true;
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { port: (server.address() as AddressInfo).port, received: () => received };
}

function isComplete(request: string): boolean {
  const [head = '', ...rest] = request.split('\r\n\r\n');
  if (rest.length === 0) return false;
  if (/^transfer-encoding: chunked$/im.test(head)) return request.endsWith('\r\n0\r\n\r\n');
  const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? 0);
  return request.length >= head.length + 4 + length;
}

/** A proxy that allows one origin by name, and says where it leads. */
async function openProxyTo() {
  const origin = await recordBytes();
  const options = { lookup: async () => ['127.0.0.1'] };
  const domains = { 'allowed.example': 'allow', '127.0.0.1': 'allow', 'denied.example': 'deny' } as const;
  const { ports } = await openProxy({ domains, allowLocalBinding: true }, options);
  const name = `allowed.example:${origin.port}`;
  const ask = (request: string) => talk(ports.http, request);
  return { ...origin, ask, name };
}

/** Requests as bytes; ORIGIN is the origin's name and port, PORT the port alone. */
const REFUSED = {
  'a second Host': 'GET / HTTP/1.1\r\nHost: ORIGIN\r\nHost: denied.example\r\n\r\n',
  'the same Host twice': 'GET / HTTP/1.1\r\nHost: ORIGIN\r\nHost: ORIGIN\r\n\r\n',
  'a second Host behind an absolute target':
    'GET http://ORIGIN/ HTTP/1.1\r\nHost: ORIGIN\r\nhost: denied.example\r\n\r\n',
  'two hosts in one line': 'GET / HTTP/1.1\r\nHost: ORIGIN, denied.example\r\n\r\n',
  'no Host': 'GET http://ORIGIN/ HTTP/1.1\r\n\r\n',
  'an empty Host': 'GET http://ORIGIN/ HTTP/1.1\r\nHost:\r\n\r\n',
  'another Host than the target': 'GET http://ORIGIN/ HTTP/1.1\r\nHost: denied.example\r\n\r\n',
  'another port than the target': 'GET http://ORIGIN/ HTTP/1.1\r\nHost: allowed.example\r\n\r\n',
  'a port with zeros in Host': 'GET http://ORIGIN/ HTTP/1.1\r\nHost: denied.example:000080\r\n\r\n',
  'a port with zeros in Host alone': 'GET / HTTP/1.1\r\nHost: allowed.example:0PORT\r\n\r\n',
  'a port with zeros in the target':
    'GET http://allowed.example:0PORT/ HTTP/1.1\r\nHost: allowed.example:0PORT\r\n\r\n',
  'a path in Host': 'GET http://ORIGIN/ HTTP/1.1\r\nHost: denied.example/\r\n\r\n',
  'a path behind the right Host': 'GET / HTTP/1.1\r\nHost: ORIGIN/\r\n\r\n',
  'a user in Host': 'GET / HTTP/1.1\r\nHost: denied.example@ORIGIN\r\n\r\n',
  'a user in the target': 'GET http://denied.example@ORIGIN/ HTTP/1.1\r\nHost: ORIGIN\r\n\r\n',
  'a host behind a user': 'GET http://ORIGIN@denied.example/ HTTP/1.1\r\nHost: ORIGIN\r\n\r\n',
  'port 0': 'GET / HTTP/1.1\r\nHost: allowed.example:0\r\n\r\n',
  'port 65536': 'GET / HTTP/1.1\r\nHost: allowed.example:65536\r\n\r\n',
  'a port that overflows to another': 'GET / HTTP/1.1\r\nHost: allowed.example:65616\r\n\r\n',
  'a port with a sign': 'GET / HTTP/1.1\r\nHost: allowed.example:+PORT\r\n\r\n',
  'a port that is empty': 'GET / HTTP/1.1\r\nHost: allowed.example:\r\n\r\n',
  'two ports': 'GET / HTTP/1.1\r\nHost: allowed.example:PORT:80\r\n\r\n',
  'two dots at the end': 'GET / HTTP/1.1\r\nHost: allowed.example..:PORT\r\n\r\n',
  'an empty label': 'GET / HTTP/1.1\r\nHost: allowed..example:PORT\r\n\r\n',
  'a dot in front': 'GET / HTTP/1.1\r\nHost: .allowed.example:PORT\r\n\r\n',
  'a dot alone': 'GET / HTTP/1.1\r\nHost: .\r\n\r\n',
  'a percent sign': 'GET http://allowed%2eexample:PORT/ HTTP/1.1\r\nHost: ORIGIN\r\n\r\n',
  'bytes beyond ASCII': 'GET / HTTP/1.1\r\nHost: all\xf6wed.example:PORT\r\n\r\n',
  'a full-width dot': 'GET / HTTP/1.1\r\nHost: allowed\xef\xbc\x8eexample:PORT\r\n\r\n',
  'a tab in Host': 'GET / HTTP/1.1\r\nHost: allowed.example\t:PORT\r\n\r\n',
  'a name in brackets': 'GET / HTTP/1.1\r\nHost: [allowed.example]:PORT\r\n\r\n',
  'an open bracket': 'GET / HTTP/1.1\r\nHost: [::1:PORT\r\n\r\n',
  'a zone': 'GET / HTTP/1.1\r\nHost: [fe80::1%25lo]:PORT\r\n\r\n',
  'IPv6 without brackets': 'GET / HTTP/1.1\r\nHost: ::1\r\n\r\n',
  'a target without a host': 'GET http:///ORIGIN/ HTTP/1.1\r\nHost: ORIGIN\r\n\r\n',
  'a target with one slash': 'GET http:/ORIGIN/ HTTP/1.1\r\nHost: ORIGIN\r\n\r\n',
  'a target with backslashes': 'GET http:\\\\ORIGIN\\ HTTP/1.1\r\nHost: ORIGIN\r\n\r\n',
  'a target that is no URL': 'GET denied.example HTTP/1.1\r\nHost: ORIGIN\r\n\r\n',
  'a target with a fragment': 'GET /a#@denied.example/ HTTP/1.1\r\nHost: ORIGIN\r\n\r\n',
  'an authority as a target': 'GET ORIGIN HTTP/1.1\r\nHost: ORIGIN\r\n\r\n',
  'a star that is no question': 'GET * HTTP/1.1\r\nHost: ORIGIN\r\n\r\n',
  'Connection takes the length': `GET / HTTP/1.1\r\nHost: ORIGIN\r\nConnection: content-length\r\nContent-Length: ${SMUGGLED.length}\r\n\r\n${SMUGGLED}`,
  'a second Connection takes the length': `GET / HTTP/1.1\r\nHost: ORIGIN\r\nConnection: close\r\nConnection: x, CONTENT-LENGTH\r\nContent-Length: ${SMUGGLED.length}\r\n\r\n${SMUGGLED}`,
  'Connection takes the chunks':
    'GET / HTTP/1.1\r\nHost: ORIGIN\r\nConnection: transfer-encoding\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  'Connection takes the Host': 'GET / HTTP/1.1\r\nHost: ORIGIN\r\nConnection: host\r\n\r\n',
  'Connection with something else': 'GET / HTTP/1.1\r\nHost: ORIGIN\r\nConnection: a;b\r\n\r\n',
  'a length and chunks':
    'POST / HTTP/1.1\r\nHost: ORIGIN\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  'chunks and a length':
    'POST / HTTP/1.1\r\nHost: ORIGIN\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n',
  'two lengths': 'POST / HTTP/1.1\r\nHost: ORIGIN\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc',
  'a list of lengths': 'POST / HTTP/1.1\r\nHost: ORIGIN\r\nContent-Length: 3, 3\r\n\r\nabc',
  'a length with a sign': 'POST / HTTP/1.1\r\nHost: ORIGIN\r\nContent-Length: +3\r\n\r\nabc',
  'a length that overflows':
    'POST / HTTP/1.1\r\nHost: ORIGIN\r\nContent-Length: 18446744073709551619\r\n\r\nabc',
  'a length that no number holds':
    'POST / HTTP/1.1\r\nHost: ORIGIN\r\nContent-Length: 9007199254740993\r\n\r\nabc',
  'an empty length': 'POST / HTTP/1.1\r\nHost: ORIGIN\r\nContent-Length:\r\n\r\nabc',
  'compressed chunks': 'POST / HTTP/1.1\r\nHost: ORIGIN\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
  'chunks twice':
    'POST / HTTP/1.1\r\nHost: ORIGIN\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  'chunks of chunks':
    'POST / HTTP/1.1\r\nHost: ORIGIN\r\nTransfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n',
  'nearly chunks': 'POST / HTTP/1.1\r\nHost: ORIGIN\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n',
  'no encoding at all': 'POST / HTTP/1.1\r\nHost: ORIGIN\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n',
  'chunks in HTTP/1.0': 'POST / HTTP/1.0\r\nHost: ORIGIN\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  'a folded header': 'GET / HTTP/1.1\r\nHost: ORIGIN\r\nX: a\r\n b\r\n\r\n',
  'a folded Host': 'GET / HTTP/1.1\r\nHost:\r\n ORIGIN\r\n\r\n',
  'a header before the first': 'GET / HTTP/1.1\r\n Host: ORIGIN\r\n\r\n',
  'line feeds alone': 'GET / HTTP/1.1\nHost: ORIGIN\n\n',
  'a carriage return alone': 'GET / HTTP/1.1\r\nHost: ORIGIN\rHost: denied.example\r\n\r\n',
  'a space before the colon': 'GET / HTTP/1.1\r\nHost: ORIGIN\r\nContent-Length : 3\r\n\r\nabc',
  'a NUL': 'GET / HTTP/1.1\r\nHost: ORIGIN\0.denied.example\r\n\r\n',
  'a space in the target': 'GET /a HTTP/1.1\r\nX: HTTP/1.1\r\nHost: ORIGIN x\r\n\r\n',
  'HTTP/2.0': 'GET / HTTP/2.0\r\nHost: ORIGIN\r\n\r\n',
  'HTTP/1.2': 'GET / HTTP/1.2\r\nHost: ORIGIN\r\n\r\n',
  'HTTP/0.9': 'GET http://ORIGIN/\r\n\r\n',
  'a tunnel without a port': 'CONNECT allowed.example HTTP/1.1\r\nHost: ORIGIN\r\n\r\n',
  'a tunnel to port 0': 'CONNECT allowed.example:0 HTTP/1.1\r\nHost: ORIGIN\r\n\r\n',
  'a tunnel with zeros': 'CONNECT allowed.example:0PORT HTTP/1.1\r\nHost: ORIGIN\r\n\r\n',
  'a tunnel to a URL': 'CONNECT http://ORIGIN/ HTTP/1.1\r\nHost: ORIGIN\r\n\r\n',
  'a tunnel to a path': 'CONNECT /ORIGIN HTTP/1.1\r\nHost: ORIGIN\r\n\r\n',
  'a tunnel with a user': 'CONNECT u@ORIGIN HTTP/1.1\r\nHost: ORIGIN\r\n\r\n',
  'a tunnel with two hosts': 'CONNECT ORIGIN HTTP/1.1\r\nHost: ORIGIN\r\nHost: denied.example\r\n\r\n',
  'a tunnel with another host': 'CONNECT ORIGIN HTTP/1.1\r\nHost: denied.example:PORT\r\n\r\n',
  'a tunnel with another port': 'CONNECT ORIGIN HTTP/1.1\r\nHost: allowed.example:1\r\n\r\n',
  'a tunnel without Host': 'CONNECT ORIGIN HTTP/1.1\r\n\r\n',
  'a tunnel with a length': `CONNECT ORIGIN HTTP/1.1\r\nHost: ORIGIN\r\nContent-Length: 3\r\n\r\nabc${SMUGGLED}`,
  'a tunnel with chunks':
    'CONNECT ORIGIN HTTP/1.1\r\nHost: ORIGIN\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
};

const HEAD = 'Host: ORIGIN\r\nConnection: close\r\n\r\n';

/** What is sent to the proxy, and every byte that then reaches the origin. */
const PASSED: Readonly<Record<string, readonly [sent: string, received: string]>> = {
  'an absolute target': [
    'GET http://ORIGIN/a?b HTTP/1.1\r\nHost: ORIGIN\r\n\r\n',
    `GET /a?b HTTP/1.1\r\n${HEAD}`,
  ],
  'a path is not touched': [
    'GET http://ORIGIN/a/../%2e/b?//ORIGIN HTTP/1.1\r\nHost: ORIGIN\r\n\r\n',
    `GET /a/../%2e/b?//ORIGIN HTTP/1.1\r\n${HEAD}`,
  ],
  'a target without a path': [
    'GET http://ORIGIN?a HTTP/1.1\r\nHost: ORIGIN\r\n\r\n',
    `GET /?a HTTP/1.1\r\n${HEAD}`,
  ],
  'a path that looks like a host': [
    'GET //denied.example/ HTTP/1.1\r\nHost: ORIGIN\r\n\r\n',
    `GET //denied.example/ HTTP/1.1\r\n${HEAD}`,
  ],
  'another spelling of the name': [
    'GET HTTP://ALLOWED.example.:PORT/ HTTP/1.1\r\nHost: Allowed.EXAMPLE:PORT\r\n\r\n',
    `GET / HTTP/1.1\r\n${HEAD}`,
  ],
  'another spelling of an address': [
    'GET http://127.1:PORT/ HTTP/1.1\r\nHost: 0x7f.1:PORT\r\n\r\n',
    'GET / HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nConnection: close\r\n\r\n',
  ],
  'IPv4 inside of IPv6': [
    'GET / HTTP/1.1\r\nHost: [::ffff:127.0.0.1]:PORT\r\n\r\n',
    'GET / HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nConnection: close\r\n\r\n',
  ],
  'a question about everything': [
    'OPTIONS * HTTP/1.1\r\nHost: ORIGIN\r\n\r\n',
    `OPTIONS * HTTP/1.1\r\n${HEAD}`,
  ],
  'the same as a target': [
    'OPTIONS http://ORIGIN HTTP/1.1\r\nHost: ORIGIN\r\n\r\n',
    `OPTIONS * HTTP/1.1\r\n${HEAD}`,
  ],
  'HTTP/1.0 without Host': ['GET http://ORIGIN/ HTTP/1.0\r\n\r\n', `GET / HTTP/1.1\r\n${HEAD}`],
  'a wish for another protocol, and what follows': [
    `GET / HTTP/1.1\r\nHost: ORIGIN\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\nPRI * HTTP/2.0\r\n\r\nSM\r\n\r\n`,
    `GET / HTTP/1.1\r\n${HEAD}`,
  ],
  'a body where few expect one': [
    `GET / HTTP/1.1\r\nHost: ORIGIN\r\nConnection: close\r\nContent-Length: 00${SMUGGLED.length}\r\n\r\n${SMUGGLED}`,
    `GET / HTTP/1.1\r\nHost: ORIGIN\r\nContent-Length: ${SMUGGLED.length}\r\nConnection: close\r\n\r\n${SMUGGLED}`,
  ],
  'no body where one is expected': [
    'POST / HTTP/1.1\r\nHost: ORIGIN\r\nConnection: close\r\n\r\n',
    'POST / HTTP/1.1\r\nHost: ORIGIN\r\nContent-Length: 0\r\nConnection: close\r\n\r\n',
  ],
  'chunks with extensions and trailers': [
    'POST / HTTP/1.1\r\nHost: ORIGIN\r\nConnection: close\r\nTE: trailers\r\nTrailer: Host\r\ntransfer-encoding: Chunked\r\n\r\n3;a=b\r\nabc\r\n0\r\nHost: denied.example\r\n\r\n',
    'POST / HTTP/1.1\r\nHost: ORIGIN\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n3\r\nabc\r\n0\r\n\r\n',
  ],
};

describe('requests that can be read in two ways are answered with 400, and nobody hears of them', () => {
  it.each(Object.entries(REFUSED))('%s', async (_name, template) => {
    const { ask, name, port, received } = await openProxyTo();
    const answer = await ask(template.replaceAll('ORIGIN', name).replaceAll('PORT', `${port}`));
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer.match(/HTTP\/1\.1 \d/g)).toHaveLength(1);
    expect(received()).toBe('');
  });
});

describe('requests that pass reach the origin as one, for the host that was judged', () => {
  it.each(Object.entries(PASSED))('%s', async (_name, [sent, expected]) => {
    const { ask, name, port, received } = await openProxyTo();
    const fill = (template: string) => template.replaceAll('ORIGIN', name).replaceAll('PORT', `${port}`);
    const closing = sent.includes('Connection:')
      ? sent
      : sent.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n');
    const answer = await ask(fill(closing));
    expect(answer).toMatch(/^HTTP\/1\.1 200 [\s\S]*\r\n\r\nok$/);
    expect(answer.match(/HTTP\/1\.1 \d/g)).toHaveLength(1);
    expect(received()).toBe(fill(expected));
  });
});

it('bytes behind a request are another one, judged for itself', async () => {
  const { ask, name, received } = await openProxyTo();
  const last = 'GET http://denied.example:080/ HTTP/1.1\r\nHost: denied.example\r\n\r\n';
  const answer = await ask(`GET / HTTP/1.1\r\nHost: ${name}\r\n\r\n${SMUGGLED}${last}${SMUGGLED}`);
  expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 403', 'HTTP/1.1 400']);
  expect(received()).toBe(`GET / HTTP/1.1\r\nHost: ${name}\r\nConnection: close\r\n\r\n`);
});

it('bytes behind a tunnel that is refused are nothing', async () => {
  const { ask, name, received } = await openProxyTo();
  const behind = `GET / HTTP/1.1\r\nHost: ${name}\r\n\r\n`;
  const answer = await ask(`CONNECT denied.example:443 HTTP/1.1\r\nHost: denied.example\r\n\r\n${behind}`);
  expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 403']);
  expect(received()).toBe('');
});

it('a length behind thousands of headers is not lost', async () => {
  const { ask, name, received } = await openProxyTo();
  const many = 'a:\r\n'.repeat(2_100);
  const head = `Host: ${name}\r\nConnection: close\r\n${many}Content-Length: ${SMUGGLED.length}\r\n`;
  const answer = await ask(`GET / HTTP/1.1\r\n${head}\r\n${SMUGGLED}`);
  expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  expect(received()).toMatch(`Content-Length: ${SMUGGLED.length}\r\nConnection: close\r\n\r\n${SMUGGLED}`);
});
